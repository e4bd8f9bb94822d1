public import AdminCommands
public import Bytes
public import ResponseStorage
public import Revalidation

/// What a whole command line did that ran in this process.
public struct CommandLineResult: Hashable, Sendable {
  /// What the process would end with.
  public let status: ExitStatus

  /// What went to the standard output.
  public let output: String

  /// What went to the standard error.
  public let messages: String

  /// What the command line removed.
  public var removed: [StoredResponse.ID] = []

  /// Creates a result.
  public init(status: ExitStatus, output: String = "", messages: String = "") {
    self.status = status
    self.output = output
    self.messages = messages
  }

  /// Runs a command line, from its parsing to its end.
  ///
  /// - Parameters:
  ///   - words: The command line without the name of the program.
  ///   - store: What is at each path that the command line names as the cache; `nil` for nothing.
  ///   - now: The time.
  ///   - input: What is on the standard input.
  ///   - answer: What somebody types at the terminal; `nil` if there is none.
  ///   - transport: What speaks for origins.
  ///   - room: What is available, and all there is, of the file system, in bytes.
  ///   - files: The configuration files that are there, by their paths.
  ///   - variables: The environment variables.
  public static func running(
    _ words: [String], on store: MemoryStore? = nil, now: Timestamp, input: [UInt8] = [],
    answer: String? = nil, transport: any Transport = NoTransport(),
    room: (available: ByteCount, total: ByteCount) = (0, 0),
    files: [String: String] = [:], variables: [String: String] = [:]
  ) -> CommandLineResult {
    var output: [UInt8] = []
    var unread = input
    var messages = ""
    let editor = RecordingEditor()
    let environment = CommandEnvironment(
      now: now, variable: { variables[$0] }, write: { output += $0 },
      writeMessage: { messages += $0 },
      readInput: { limit in
        // As a pipe, it gives each byte once.
        defer { unread = [] }
        return Array(unread.prefix(limit + 1))
      },
      readConfiguration: { files[$0].map { Array($0.utf8) } },
      openSource: { path, _, _ in
        guard let store else { throw StoreError(.notFound, at: path) }
        return .store(store)
      },
      openStore: { _, _, _ in editor }, fileSystem: { _ in room },
      openTransport: { transport }, isInputTerminal: answer != nil, readLine: { answer })
    let status = URLCacheAdmin.run(["urlcache-admin"] + words, in: environment)
    var result = CommandLineResult(
      status: status, output: String(decoding: output, as: UTF8.self), messages: messages)
    result.removed = editor.removed
    return result
  }
}

/// Writes down what is to be removed, and removes nothing.
private final class RecordingEditor: RemovingStore {
  var removed: [StoredResponse.ID] = []

  func remove<Versions: RandomAccessCollection<ResponseVersion>>(
    _ responses: Versions, in order: RemovalOrder, into removal: inout Removal,
    unless shouldStop: () -> Bool
  ) where Versions.Index == Int {
    removed += responses.map(\.id)
    removal.visited = responses.count
  }
}
