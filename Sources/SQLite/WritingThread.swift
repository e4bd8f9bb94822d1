import Files

/// A thread that makes one write after the other.
final class WritingThread: Sendable {
  private let writes = Channel<@Sendable () -> Int32>()
  private let results = Channel<Int32>()

  init() {
    BackgroundThread.start("WritingThread") { [writes, results] in
      while let write = writes.receive() { results.send(write()) }
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

  /// Waits for the end of the write that was started last.
  ///
  /// - Returns: The result code of SQLite.
  func result() -> Int32? { results.receive() }
}
