public import ArgumentParser

/// A subcommand, with the environment it runs in as a parameter.
public protocol AdminCommand: ParsableCommand {
  /// What the command writes, as far as an error must be written in the same way.
  var writesJSON: Bool { get }

  /// Does the command's work.
  ///
  /// - Returns: What the process ends with; a failure is thrown.
  func run(in environment: CommandEnvironment) throws -> ExitStatus
}
