import Administration
import ArgumentParser
import Bytes
import Files
import Matching
import Progress
import Rendering
import ResponseArchives
import ResponseStorage

extension URLCacheAdmin {
  /// Runs a command line.
  ///
  /// - Parameter arguments: The arguments of the process, with the name of the program first.
  /// - Returns: The exit status.
  public static func run(_ arguments: [String], in environment: CommandEnvironment) -> ExitStatus {
    // Swift on Linux reads the arguments from `/proc/self/cmdline`. Without it, every command line
    // would look empty.
    guard !arguments.isEmpty else {
      environment.writeMessage(
        "error: cannot read the command-line arguments\n"
          + "hint: on Linux, mount /proc\n")
      return .software
    }
    let home = environment.variable("HOME")
    // Before anything else: the line of a request is unfinished, and no parser would accept it.
    if let request = CompletionRequest(arguments.dropFirst(), home: home) {
      request.answer(in: environment)
      return .done
    }
    let words = LeadingOptions.moved(behindTheVerbOf: Array(arguments.dropFirst()))
    // ArgumentParser would take more than half of the time to answer this.
    if words == ["--version"] { return printing(versionText + "\n", in: environment) }
    if words == ["--version", "--verbose"] || words == ["--verbose", "--version"] {
      return printing(verboseVersionText, in: environment)
    }
    let terminal = TerminalOptions.reading(words)
    var environment = environment.showing(by: terminal)
    environment.words = words
    if let help = BriefHelp.text(for: words) { return printing(help, in: environment) }
    let parsed: ParsedCommand
    do {
      try checkVerb(of: words)
      try checkRepair(in: words)
      try checkDryRun(in: words)
      parsed = try ParsedCommand(words)
    } catch {
      // No command was parsed that could say whether it writes JSON.
      return report(error, asJSON: ErrorFormat.isJSON(in: words), in: environment)
    }
    let command: any AdminCommand
    switch parsed {
    case .command(let parsed): command = parsed
    case .other(var parsed):
      // ArgumentParser would show the help and end with 0, which a script would take for success.
      if let failure = OptionHints(for: words)?.failureInsteadOfHelp() {
        return report(failure, asJSON: ErrorFormat.isJSON(in: words), in: environment)
      }
      do { try parsed.run() } catch { return report(error, asJSON: false, in: environment) }
      return .done
    }
    environment.operandsAfterTerminator =
      words.firstIndex(of: "--").map { words.count - $0 - 1 } ?? 0
    environment.isQuiet = command.isQuiet
    if command.isQuiet, terminal.progress == .auto { environment.progress = nil }
    do { try environment.readEvaluationTime() } catch {
      return report(error, asJSON: command.writesJSON, in: environment)
    }
    return command.runCommandLine(in: environment)
  }

  /// Writes a text to the output.
  ///
  /// - Returns: The exit status.
  private static func printing(_ text: String, in environment: CommandEnvironment) -> ExitStatus {
    do { try environment.write(Array(text.utf8)) } catch {
      return report(error, asJSON: false, in: environment)
    }
    return .done
  }

  /// Rejects `--repair=` without a value, such as from an empty shell variable: ArgumentParser would read it as
  /// `--repair`, which removes all kinds.
  private static func checkRepair(in words: [String]) throws(CommandFailure) {
    // After `--` it would be an operand.
    guard words.prefix(while: { $0 != "--" }).contains("--repair=") else { return }
    throw .usage(
      "'--repair=' has no value; a shell variable may be empty",
      hint: "name the kinds of repair, or use '--repair' for all of them")
  }

  /// Rejects a number after `-n` where that is a dry run, because the number would be the id of an entry.
  private static func checkDryRun(in words: [String]) throws(CommandFailure) {
    let options = words.prefix { $0 != "--" }
    // Without it, the command need not be looked up.
    guard options.contains("-n") else { return }
    guard let verb = words.first.flatMap(command(named:))?._commandName,
      VerbSynonyms.changing.contains(verb) || verb == "check"
    else { return }
    for (word, next) in zip(options, options.dropFirst()) where word == "-n" {
      guard !next.isEmpty, next.utf8.allSatisfy(\.isASCIIDigit) else { continue }
      throw .usage(
        "'-n' is short for '--dry-run' here, and takes no number",
        hint: "for the entry with the id \(next) write '--id \(next)'; '\(verb)' has no '--limit'")
    }
  }

  /// Returns the command with a name or an alias; `nil` if there is none.
  static func command(named name: String) -> (any ParsableCommand.Type)? {
    configuration.subcommands.first { command in
      command._commandName == name || command.configuration.aliases.contains(name)
    }
  }

  /// Reports a failure.
  ///
  /// - Parameter asJSON: Whether to write JSON. It is evaluated only for a real failure: for a command line that was not
  ///   parsed, it takes a fifth of the start.
  /// - Returns: The exit status.
  static func report(
    _ error: any Error, asJSON: @autoclosure () -> Bool, in environment: CommandEnvironment
  ) -> ExitStatus {
    let failure: CommandFailure
    switch error {
    case let error as CommandFailure: failure = error
    case let error as StoreError:
      // With several, it is not known in which one the body was.
      let paths = environment.record.paths
      failure = CommandFailure(
        error.inCache(at: paths.count == 1 ? paths.first : nil),
        cacheNames: environment.configuration.cacheNames)
    case let error as ResponseArchiveError: failure = CommandFailure(error)
    case let error as RegularExpression.Overrun: failure = CommandFailure(error)
    case let error as FileError:
      // The reader of the output has seen enough, as in `list | head`.
      if error.kind == .brokenPipe { return .done }
      failure = CommandFailure(error)
    default:
      let text = fullMessage(for: error)
      // `--help` and `--version` are errors to ArgumentParser, with the text to print and an exit
      // code of 0.
      let hints = OptionHints(for: environment.words)
      if exitCode(for: error) == .success {
        if let failure = hints?.failureInsteadOfHelp() {
          return report(failure, asJSON: asJSON(), in: environment)
        }
        return printing(text + "\n", in: environment)
      }
      failure = hints?.failure(for: withoutPrefix(text)) ?? .usage(withoutPrefix(text))
    }
    // The log of an unattended run has the reason too, as nobody sees its messages.
    environment.record.message = failure.message
    if asJSON() {
      let object = ErrorRenderer.json(
        code: Int(failure.status.rawValue), kind: failure.kind, message: failure.message,
        hint: failure.hint, path: failure.path)
      environment.writeMessage(String(decoding: object.bytes, as: UTF8.self))
    } else {
      // Line by line, because a message about a configuration shows a mark below the line in
      // question.
      let style = environment.messageStyle
      let hint = failure.hint.map { style.text("hint: \(printable($0))", as: .hint) + "\n" } ?? ""
      environment.writeMessage(
        style.text("error:", as: .error) + " \(printableLines(failure.message))\n\(hint)")
    }
    return failure.status
  }

  /// Returns the message of ArgumentParser for an error.
  static func message(of error: any Error) -> String { withoutPrefix(fullMessage(for: error)) }

  /// Returns a message of ArgumentParser without its "Error: " prefix.
  private static func withoutPrefix(_ text: String) -> String {
    text.utf8.starts(with: "Error: ".utf8) ? String(text.dropFirst(7)) : text
  }

  /// Returns a message with each line made printable.
  private static func printableLines(_ text: String) -> String {
    text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { printable(String(decoding: Array($0), as: UTF8.self)) }.joined(separator: "\n")
  }
}

extension URLCacheAdmin {
  /// Rejects a command line without a verb, or with an unknown one.
  fileprivate static func checkVerb(of words: [String]) throws {
    // ArgumentParser shows the help and ends with 0, which a script would take for success.
    guard var verb = words.first else {
      throw CommandFailure.usage(
        "no command given\n\n" + BriefHelp.root, hint: nil)
    }
    if verb == "help" {
      guard let topic = words.dropFirst().first else { return }
      verb = topic
    }
    guard verb.utf8.first != UInt8(ascii: "-"), verb != "help" else { return }
    let names = configuration.subcommands.flatMap { command in
      [command._commandName] + command.configuration.aliases
    }
    // Checked here, because ArgumentParser reports an unknown command as an unexpected argument,
    // without a suggestion.
    guard names.contains(verb) else {
      throw CommandFailure.usage(
        "unknown command '\(printable(verb))'",
        hint: VerbSynonyms.hint(for: verb, before: Array(words.dropFirst())))
    }
    if let failure = SubcommandHints.unknown(in: words) { throw failure }
  }
}

/// What ArgumentParser makes of a command line.
enum ParsedCommand {
  case command(any AdminCommand)
  /// ArgumentParser's own command `help`, or a group such as `rules` without a subcommand.
  case other(any ParsableCommand)

  /// Parses a command line whose verb is known.
  ///
  /// The command parses it by itself, because the tree of all commands takes a seventh of a short run. What it does not
  /// take, such as `--help`, is parsed again by the root command, whose messages name the whole command.
  init(_ words: [String]) throws {
    if let verb = words.first, let command = URLCacheAdmin.command(named: verb),
      command.configuration.subcommands.isEmpty,
      let parsed = try? command.parseAsRoot(Array(words.dropFirst())),
      case .command(let command) = Self(parsed)
    {
      self = .command(command)
    } else {
      self = Self(try URLCacheAdmin.parseAsRoot(words))
    }
  }

  private init(_ parsed: any ParsableCommand) {
    // This is the only place with a dynamic cast.
    if let command = parsed as? any AdminCommand {
      self = .command(command)
    } else {
      self = .other(parsed)
    }
  }
}
