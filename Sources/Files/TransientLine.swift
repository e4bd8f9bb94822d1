#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

import Synchronization

/// Whether a signal has removed the line for good.
private let isOver = Atomic(false)

/// A line on the terminal of standard error that is only shown for a while.
public enum TransientLine {
  /// Whether a signal is ending the process, so that no line may be drawn any more.
  // Another thread may draw between the removal of the line and the end of the process.
  public static var isRemovedForGood: Bool { isOver.load(ordering: .relaxed) }

  /// What removes the line: a carriage return, and the control sequence EL of ECMA-48.
  public static let removal: StaticString = "\r\u{1B}[K"

  /// Removes the line if a signal ends the process, until ``end()``.
  public static func begin() {
    for number in HeldSignals.numbers where !HeldSignals.isIgnored(number) {
      _ = signal(number) { number in
        // A handler may only call functions that are safe in signal handlers, and use atomics without locks.
        isOver.store(true, ordering: .relaxed)
        let text = TransientLine.removal
        _ = unsafe write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
        _ = signal(number, SIG_DFL)
        raise(number)
      }
    }
  }

  /// Leaves it to signals to end the process at once.
  public static func end() {
    for number in HeldSignals.numbers where !HeldSignals.isIgnored(number) {
      _ = signal(number, SIG_DFL)
    }
  }
}
