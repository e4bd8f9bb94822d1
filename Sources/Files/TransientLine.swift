#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A line on the terminal of standard error that is only shown for a while.
public enum TransientLine {
  /// What removes the line: a carriage return, and the control sequence EL of ECMA-48.
  public static let removal: StaticString = "\r\u{1B}[K"

  /// Removes the line if a signal ends the process, until ``end()``.
  public static func begin() {
    for number in HeldSignals.numbers where !HeldSignals.isIgnored(number) {
      _ = signal(number) { number in
        // A handler may only call functions that are safe in signal handlers.
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
