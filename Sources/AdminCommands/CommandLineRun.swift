import Administration
import ArgumentParser
import Files
import Rendering
import ResponseArchives
import ResponseStorage

extension URLCacheAdmin {
  /// Runs a whole command line.
  ///
  /// - Parameter arguments: What the system handed over, the name of the program first.
  /// - Returns: What the process ends with.
  public static func run(_ arguments: [String], in environment: CommandEnvironment) -> ExitStatus {
    guard !arguments.isEmpty else {
      environment.writeMessage(
        "error: the system handed over no arguments\n"
          + "hint: on Linux they are read from /proc, which must be mounted\n")
      return .software
    }
    let home = environment.variable("HOME")
    if let request = CompletionRequest(arguments.dropFirst(), home: home) {
      request.answer(in: environment)
      return .done
    }
    let line = CommandLineWords(Array(arguments.dropFirst()))
    do {
      try line.checkVerb()
      guard line.isConfigured else { return try run(line, in: environment) }
      var runs = CacheRuns(line, in: environment)
      return try runs.run()
    } catch {
      return report(error, asJSON: line.asksForJSON, in: environment)
    }
  }

  /// Runs a command that is told all that the configuration says.
  static func run(
    _ line: CommandLineWords, in environment: CommandEnvironment
  ) throws -> ExitStatus {
    var command = try URLCacheAdmin.parseAsRoot(line.words)
    if let command = command as? any ScheduledCommand {
      return try command.runOnSchedule(in: environment)
    }
    if let command = command as? any AdminCommand { return try command.run(in: environment) }
    try command.run()
    return .done
  }

  /// Tells the user of a failure.
  ///
  /// - Returns: What the process ends with.
  static func report(
    _ error: any Error, asJSON: Bool, in environment: CommandEnvironment
  ) -> ExitStatus {
    let failure: CommandFailure
    switch error {
    case let error as CommandFailure: failure = error
    case let error as StoreError:
      failure = CommandFailure(error, cacheNames: environment.configuration.cacheNames)
    case let error as ResponseArchiveError: failure = CommandFailure(error)
    case let error as URLExpression.Overrun: failure = CommandFailure(error)
    case let error as FileError:
      // Whoever read the output has seen enough.
      if error.kind == .brokenPipe { return .done }
      failure = CommandFailure(error)
    default:
      let text = fullMessage(for: error)
      if exitCode(for: error) == .success {
        do { try environment.write(Array((text + "\n").utf8)) } catch { return .inputOutput }
        return .done
      }
      failure = .usage(withoutPrefix(text))
    }
    environment.record.message = failure.message
    if asJSON {
      let object = ErrorRenderer.json(
        code: Int(failure.status.rawValue), kind: failure.kind, message: failure.message,
        hint: failure.hint, path: failure.path)
      environment.writeMessage(String(decoding: object.bytes, as: UTF8.self))
    } else {
      let hint = failure.hint.map { "hint: \(printable($0))\n" } ?? ""
      environment.writeMessage("error: \(printableLines(failure.message))\n\(hint)")
    }
    return failure.status
  }

  /// The message of ArgumentParser without its own "Error: ".
  private static func withoutPrefix(_ text: String) -> String {
    text.utf8.starts(with: "Error: ".utf8) ? String(text.dropFirst(7)) : text
  }

  /// Makes each line of a message printable.
  private static func printableLines(_ text: String) -> String {
    text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { printable(String(decoding: Array($0), as: UTF8.self)) }.joined(separator: "\n")
  }
}

/// The words of a command line, as ArgumentParser needs them.
struct CommandLineWords {
  /// The words, the verb first.
  var words: [String]

  /// Moves what names the cache and the configuration from before the verb behind it: `-c PATH list` is
  /// `list -c PATH`.
  init(_ words: [String]) {
    self.words = words
    var moved: [String] = []
    var rest = words[...]
    while let word = rest.first {
      if ["-c", "--cache", "--config"].contains(word) {
        moved += rest.prefix(2)
        rest = rest.dropFirst(2)
      } else if word.utf8.starts(with: "--cache=".utf8) || word.utf8.starts(with: "--config=".utf8)
      {
        moved.append(word)
        rest = rest.dropFirst()
      } else {
        break
      }
    }
    guard !moved.isEmpty, let verb = rest.first, verb.utf8.first != UInt8(ascii: "-") else {
      return
    }
    let verbs = Self.verbCount(of: Array(rest))
    self.words = rest.prefix(verbs) + moved + rest.dropFirst(verbs)
  }

  /// How many words name the command: two of `policy test`.
  static func verbCount(of words: [String]) -> Int {
    words.starts(with: ["policy", "test"]) ? 2 : 1
  }

  /// Whether the command line asks for JSON, even if it cannot be parsed.
  var asksForJSON: Bool {
    words.contains("--format=json")
      || zip(words, words.dropFirst()).contains { $0 == "--format" && $1 == "json" }
  }

  /// Refuses a command line without a verb, or with one that does not exist.
  func checkVerb() throws {
    guard var verb = words.first else {
      throw CommandFailure.usage(
        "no command is given\n\n" + URLCacheAdmin.helpMessage(), hint: nil)
    }
    if verb == "help" {
      guard let topic = words.dropFirst().first else { return }
      verb = topic
    }
    guard verb.utf8.first != UInt8(ascii: "-"), verb != "help" else { return }
    let names = URLCacheAdmin.configuration.subcommands.flatMap { command in
      [command._commandName] + command.configuration.aliases
    }
    guard !names.contains(verb) else { return }
    let hint =
      if verb.utf8.contains(UInt8(ascii: "/")) || verb.utf8.contains(UInt8(ascii: ".")) {
        "the cache is named with '-c': 'urlcache-admin list -c \(verb)'"
      } else if let nearest = Spelling.nearest(to: verb, among: names) {
        "did you mean '\(nearest)'?"
      } else {
        "see what there is with 'urlcache-admin --help'"
      }
    throw CommandFailure.usage("there is no command '\(printable(verb))'", hint: hint)
  }
}
