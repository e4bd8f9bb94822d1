public import AdminCommands
public import ResponseStorage

/// What a whole command line did that ran in this process.
public struct CommandLineResult: Hashable, Sendable {
  /// What the process would end with.
  public let status: ExitStatus

  /// What went to the standard output.
  public let output: String

  /// What went to the standard error.
  public let messages: String

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
  public static func running(
    _ words: [String], on store: MemoryStore? = nil, now: Timestamp, input: [UInt8] = []
  ) -> CommandLineResult {
    var output: [UInt8] = []
    var messages = ""
    let environment = CommandEnvironment(
      now: now, write: { output += $0 }, writeMessage: { messages += $0 },
      readInput: { Array(input.prefix($0)) },
      openSource: { path, _ in
        guard let store else { throw StoreError(.notFound, at: path) }
        return store
      },
      openStore: { path, _, _ in throw StoreError(.accessDenied, at: path) })
    let status = URLCacheAdmin.run(["urlcache-admin"] + words, in: environment)
    return CommandLineResult(
      status: status, output: String(decoding: output, as: UTF8.self), messages: messages)
  }
}
