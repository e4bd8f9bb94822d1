#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The environment of this process, and its end.
public enum CurrentProcess {
  /// Returns an environment variable, or `nil` if it is not set or not UTF-8.
  public static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(validatingCString: value)
  }

  /// Sets an environment variable. Call it only while there is one thread.
  public static func set(_ name: String, to value: String) {
    _ = unsafe setenv(name, value, 1)
  }

  /// Pauses the current thread; a signal can end the pause early.
  public static func sleep(milliseconds: Int) {
    var time = timespec(tv_sec: milliseconds / 1_000, tv_nsec: milliseconds % 1_000 * 1_000_000)
    unsafe nanosleep(&time, nil)
  }

  /// Makes writing to a pipe without a reader, or beyond the file size limit (`RLIMIT_FSIZE`), an error instead
  /// of the end of the process.
  public static func ignoreSignalsOfWriting() {
    for number in [SIGPIPE, SIGXFSZ] { _ = signal(number, SIG_IGN) }
  }

  /// Ends the process.
  public static func end(with status: Int32) -> Never {
    exit(status)
  }
}
