import Files
import Rendering

/// What the standard output of a command is for, which decides what happens when it cannot be written.
enum OutputPurpose {
  /// It is all that the command is for: the command ends.
  case product
  /// The exit status says as much: a reader that has seen enough, as in `check | head`, does not change it.
  case answer
  /// It says what the command has changed: the command goes on, and what cannot be written goes to standard error.
  case receipt
}

/// The standard output of a command that goes on when it cannot be written.
final class LostOutput {
  private var failure: (any Error)?

  /// Returns the function that writes to standard output.
  ///
  /// - Parameter writeMessage: Writes what is lost to standard error; `nil` for JSON, of which a part is of no use.
  func writer(
    _ purpose: OutputPurpose, over write: @escaping ([UInt8]) throws -> Void,
    _ writeMessage: ((String) -> Void)?
  ) -> ([UInt8]) throws -> Void {
    if purpose == .product { return write }
    return { [self] bytes in
      if failure == nil {
        do { return try write(bytes) } catch {
          guard purpose == .receipt || error.isClosedPipe else { throw error }
          failure = error
        }
      }
      if purpose == .receipt { writeMessage?(String(decoding: bytes, as: UTF8.self)) }
    }
  }

  /// Returns the exit status of a command, and reports that its output is lost.
  ///
  /// - Parameters:
  ///   - status: The status of the work.
  ///   - asJSON: Whether the output is JSON.
  func status(
    after status: ExitStatus, _ purpose: OutputPurpose, asJSON: Bool,
    in environment: CommandEnvironment
  ) -> ExitStatus {
    guard let failure else { return status }
    if asJSON, purpose == .receipt {
      let removed = environment.record.removedEntries
      environment.writeMessage(
        removed > 0
          ? "note: removed \(QuantityWords.counted(removed, "entry", "entries"))\n"
          : "note: the command was carried out, and removed no entries\n")
    }
    // The reason for another failure was reported, and is the more important one.
    if failure.isClosedPipe || status.isFailure { return status }
    return URLCacheAdmin.report(failure, asJSON: asJSON, in: environment)
  }
}

extension Error {
  /// Whether no process reads the output any more.
  fileprivate var isClosedPipe: Bool { (self as? FileError)?.kind == .brokenPipe }
}

extension AdminCommand {
  /// Runs the command when it is due, and goes on without its output if that cannot be written and is not all that the
  /// command is for.
  ///
  /// - Parameter run: The work to do.
  /// - Returns: The exit status; failures are reported.
  func runKeepingStatus(
    in environment: CommandEnvironment, _ run: (CommandEnvironment) throws -> ExitStatus
  ) rethrows -> ExitStatus {
    let lost = LostOutput()
    var environment = environment
    environment.write = lost.writer(
      outputPurpose, over: environment.write, writesJSON ? nil : environment.writeMessage)
    do {
      return lost.status(
        after: try run(environment), outputPurpose, asJSON: writesJSON, in: environment)
    } catch {
      _ = lost.status(after: .software, outputPurpose, asJSON: writesJSON, in: environment)
      throw error
    }
  }
}
