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
/// Whether a thread is drawing the line.
private let isBeingDrawn = Atomic(false)

/// A line on the terminal of standard error that is only shown for a while.
public enum TransientLine {
  /// Draws the line, unless a signal has removed it for good. Only one thread may draw at a time.
  public static func draw(_ body: () -> Void) {
    // Otherwise a thread could draw between the removal of the line and the end of the process.
    isBeingDrawn.store(true, ordering: .sequentiallyConsistent)
    defer { isBeingDrawn.store(false, ordering: .sequentiallyConsistent) }
    if !isOver.load(ordering: .sequentiallyConsistent) { body() }
  }

  /// What removes the line: a carriage return, and the control sequence EL of ECMA-48.
  public static let removal: StaticString = "\r\u{1B}[K"

  /// Removes the line if a signal ends the process, until ``end()``.
  public static func begin() {
    for number in HeldSignals.numbers where !HeldSignals.isIgnored(number) {
      _ = signal(number) { number in
        // A handler may only call functions that are safe in signal handlers, and use atomics without locks.
        isOver.store(true, ordering: .sequentiallyConsistent)
        // Waits for a thread that is drawing. If it is this one, it will never end, so not for long.
        for _ in 0..<50 where isBeingDrawn.load(ordering: .sequentiallyConsistent) {
          _ = poll(nil, 0, 1)
        }
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
