import ArgumentParser

/// A subcommand that gets its environment as a parameter.
protocol AdminCommand: ParsableCommand {
  // A program that parses the output also has to parse the failures, and must not find a sentence
  // where it expects an object.
  /// Whether the command writes JSON, so that errors must be JSON too.
  var writesJSON: Bool { get }

  /// Whether to leave out notes, hints and summaries.
  var isQuiet: Bool { get }

  /// What standard output is for.
  var outputPurpose: OutputPurpose { get }

  /// Runs the command.
  ///
  /// - Returns: The exit status; failures are thrown.
  func run(in environment: CommandEnvironment) throws -> ExitStatus

  /// Runs the command when it is due: at once, unless a timer runs it.
  ///
  /// - Returns: The exit status; failures are thrown.
  func runWhenDue(in environment: CommandEnvironment) throws -> ExitStatus

  /// Runs the command with its options, and reports failures.
  ///
  /// - Returns: The exit status.
  func runCommandLine(in environment: CommandEnvironment) -> ExitStatus
}

extension AdminCommand {
  var isQuiet: Bool { false }

  var outputPurpose: OutputPurpose { .product }

  func runWhenDue(in environment: CommandEnvironment) throws -> ExitStatus {
    try run(in: environment)
  }

  func runCommandLine(in environment: CommandEnvironment) -> ExitStatus {
    do {
      return try runKeepingStatus(in: environment) { try runWhenDue(in: $0) }
    } catch {
      // Every error ends here, so that there is one place that decides about exit statuses and
      // about text from caches in messages.
      return URLCacheAdmin.report(error, asJSON: writesJSON, in: environment)
    }
  }
}
