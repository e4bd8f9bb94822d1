public import AdminCommands
public import Bytes
public import ResponseStorage
public import Revalidation

/// The result of running a complete command line in this process.
public struct CommandLineResult: Hashable, Sendable {
  /// The exit status.
  public let status: ExitStatus

  /// The standard output.
  public let output: String

  /// The standard error.
  public let messages: String

  /// The responses that the command removed.
  public var removed: [StoredResponse.ID] = []

  /// Creates a result.
  public init(status: ExitStatus, output: String = "", messages: String = "") {
    self.status = status
    self.output = output
    self.messages = messages
  }

  /// Parses and runs a command line.
  ///
  /// - Parameters:
  ///   - words: The command line without the name of the program.
  ///   - store: Returns the cache at each path that the command line uses; `nil` for none.
  ///   - now: The time.
  ///   - input: The standard input.
  ///   - answer: The answer typed at the terminal; `nil` if there is no terminal.
  ///   - columns: The width of the terminal; `nil` if there is none.
  ///   - transport: Stands in for origins.
  ///   - room: The available and total space of the file system, in bytes.
  ///   - files: The existing configuration files, by path.
  ///   - variables: The environment variables.
  public static func running(
    _ words: [String], on store: MemoryStore? = nil, now: Timestamp, input: [UInt8] = [],
    answer: String? = nil, columns: Int? = nil, transport: any Transport = NoTransport(),
    room: (available: ByteCount, total: ByteCount) = (0, 0),
    files: [String: String] = [:], variables: [String: String] = [:]
  ) -> CommandLineResult {
    var output: [UInt8] = []
    var unread = input
    var messages = ""
    let editor = RecordingEditor()
    let environment = CommandEnvironment(
      now: now, variable: { variables[$0] }, terminalWidth: columns, write: { output += $0 },
      writeMessage: { messages += $0 },
      readInput: { limit in
        // Like a pipe, it returns each byte once.
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

/// Records the responses to remove, and removes nothing.
private final class RecordingEditor: RemovingStore {
  var removed: [StoredResponse.ID] = []

  func remove(
    _ responses: inout some IteratorProtocol<ResponseVersion>, into removal: inout Removal,
    unless shouldStop: () -> Bool
  ) {
    while let response = responses.next() {
      removed.append(response.id)
      removal.visited += 1
    }
  }
}
