import Administration
import Files
import Rendering
import ResponseStorage

/// When a run begins, and by when it is to end; all caches of `--all-caches` share it.
final class RunSchedule {
  private var hasBegun = false
  /// By the clock that nobody sets, in milliseconds.
  private var end: Int64?

  /// Waits for its turn the first time that it is called, and then lets the time run.
  ///
  /// A signal ends the process meanwhile, as nothing has begun.
  ///
  /// - Parameter waits: Whether there is a turn to wait for.
  /// - Returns: Whether it has waited.
  func begin(
    _ options: ScheduleOptions, waiting waits: Bool, in environment: CommandEnvironment
  ) -> Bool {
    if hasBegun { return false }
    hasBegun = true
    let delay =
      waits && options.splay > 0 ? environment.random(Self.milliseconds(options.splay)) : 0
    if delay > 0 {
      environment.note("begins in \(AgeText.text(seconds: delay / 1_000)), for '--splay'")
      environment.pause(delay)
    }
    end = options.maxRuntime.map {
      environment.steadyMilliseconds() + Self.milliseconds($0)
    }
    return delay > 0
  }

  /// Whether the time is over at a moment of the clock that nobody sets.
  func isOver(at milliseconds: Int64) -> Bool { end.map { milliseconds >= $0 } ?? false }

  /// At most 30,000 years, which no sum of two makes too many.
  private static func milliseconds(_ seconds: Double) -> Int64 { Int64(min(seconds, 1e12) * 1_000) }
}

extension CommandEnvironment {
  /// Whether the command has run for as long as it is to.
  var isTimeOver: Bool { schedule.isOver(at: steadyMilliseconds()) }

  /// Why a command is to leave the rest; `nil` as long as it may go on.
  func stopReason(_ signals: borrowing HeldSignals) -> StopReason? {
    signals.haveCome ? .signal : isTimeOver ? .maxRuntime : nil
  }
}
