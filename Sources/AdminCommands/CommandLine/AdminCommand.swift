import ArgumentParser

/// A subcommand, with the environment it runs in as a parameter.
protocol AdminCommand: ParsableCommand {
  /// What the command writes, as far as an error must be written in the same way.
  var writesJSON: Bool { get }

  /// Does the command's work.
  ///
  /// - Returns: What the process ends with; a failure is thrown.
  func run(in environment: CommandEnvironment) throws -> ExitStatus

  /// Does the command's work when its turn has come, which is at once unless a timer runs it.
  ///
  /// - Returns: What the process ends with; a failure is thrown.
  func runWhenDue(in environment: CommandEnvironment) throws -> ExitStatus

  /// Runs the command as its command line has it, and tells the user of a failure.
  ///
  /// - Returns: What the process ends with.
  func runCommandLine(in environment: CommandEnvironment) -> ExitStatus
}

extension AdminCommand {
  func runWhenDue(in environment: CommandEnvironment) throws -> ExitStatus {
    try run(in: environment)
  }

  func runCommandLine(in environment: CommandEnvironment) -> ExitStatus {
    do { return try runWhenDue(in: environment) } catch {
      return URLCacheAdmin.report(error, asJSON: writesJSON, in: environment)
    }
  }
}
