import Files

#if canImport(Glibc)
  private import Glibc
#elseif canImport(Darwin)
  private import Darwin
#endif

/// A thread that makes one write after the other.
final class WritingThread: Sendable {
  /// The result code of SQLite, and what the system call left in `errno`.
  private typealias Result = (code: Int32, systemNumber: Int32)

  private let writes = Channel<@Sendable () -> Int32>()
  private let results = Channel<Result>()

  init() {
    BackgroundThread.start("WritingThread") { [writes, results] in
      while let write = writes.receive() { results.send((write(), errno)) }
    }
  }

  deinit { writes.close() }

  /// Starts a write. Its bytes must not change until ``result()`` returns.
  func write(
    _ bytes: UnsafeRawBufferPointer, _ offset: Int64, _ makeWrite: @escaping GatheredWrites.Writing
  ) {
    nonisolated(unsafe) let bytes = unsafe bytes
    writes.send { unsafe makeWrite(bytes, offset) }
  }

  /// Waits for the end of the write that was started last. Sets `errno`, which SQLite looks at after an error.
  ///
  /// - Returns: The result code of SQLite.
  func result() -> Int32? {
    guard let result = results.receive() else { return nil }
    if result.code != 0 { errno = result.systemNumber }
    return result.code
  }
}
