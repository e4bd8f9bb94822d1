import Administration
import Files
import Rendering
import ResponseStorage

/// The start and the deadline of a run, shared by all caches of `--all-caches`.
final class RunSchedule {
  private var hasBegun = false
  /// The deadline on the monotonic clock, in milliseconds.
  private var end: Int64?

  /// Waits for the random delay on the first call, and then starts the clock.
  ///
  /// A signal ends the process while it waits, because nothing has started.
  ///
  /// - Parameter waits: Whether to wait for the delay.
  /// - Returns: Whether it waited.
  func begin(
    _ options: ScheduleOptions, waiting waits: Bool, in environment: CommandEnvironment
  ) -> Bool {
    if hasBegun { return false }
    hasBegun = true
    let delay =
      // Random, so that a fleet of machines with the same timer does not load a server or a network
      // file system in the same second.
      waits && options.splay > 0 ? environment.random(Self.milliseconds(options.splay)) : 0
    if delay > 0 {
      environment.note("starting in \(AgeText.words(seconds: delay / 1_000)), because of '--splay'")
      environment.pause(delay)
    }
    end = options.maxRuntime.map {
      environment.steadyMilliseconds() + Self.milliseconds($0)
    }
    return delay > 0
  }

  /// Whether a worker has taken the time up without an end.
  var wasHeldUp = false

  /// Begins, in a worker, with the time that its command has left.
  func begin(millisecondsLeft: Int64?, in environment: CommandEnvironment) {
    hasBegun = true
    end = millisecondsLeft.map { environment.steadyMilliseconds() + $0 }
  }

  /// How long the command may still run at a time of the monotonic clock; `nil` for any time.
  func millisecondsLeft(at milliseconds: Int64) -> Int64? { end.map { $0 - milliseconds } }

  /// Gives the time back that a worker has taken without an end, as one cache must not stop the clean-up of others.
  func extend(since start: Int64, to milliseconds: Int64) {
    if wasHeldUp { end = end.map { $0 + milliseconds - start } }
    wasHeldUp = false
  }

  /// Whether the deadline has passed at a time of the monotonic clock.
  func isOver(at milliseconds: Int64) -> Bool { end.map { milliseconds >= $0 } ?? false }

  /// The limit of about 30,000 years keeps sums of two times in range.
  private static func milliseconds(_ seconds: Double) -> Int64 { Int64(min(seconds, 1e12) * 1_000) }
}

extension CommandEnvironment {
  /// Whether the time limit of the run has passed.
  var isTimeOver: Bool { schedule.isOver(at: steadyMilliseconds()) }

  /// Returns why a command must stop; `nil` if it can continue.
  func stopReason(_ signals: borrowing HeldSignals) -> StopReason? {
    signals.haveCome ? .signal : isTimeOver ? .maxRuntime : nil
  }
}
