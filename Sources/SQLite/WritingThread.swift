internal import CSQLite
import Files

#if canImport(Glibc)
  private import Glibc
#elseif canImport(Darwin)
  private import Darwin
#endif

/// A thread that makes one write after the other, until one fails.
final class WritingThread: Sendable {
  private let writes = Channel<@Sendable () -> Int32>()
  private let outcomes = Channel<GatheredWrites.Outcome>()

  init() {
    BackgroundThread.start("WritingThread") { [writes, outcomes] in
      var outcome = GatheredWrites.Outcome()
      while let write = writes.receive() {
        // Nothing is written behind a gap.
        if outcome.code == SQLITE_OK { outcome = .init(code: write(), systemNumber: errno) }
        outcomes.send(outcome)
      }
    }
  }

  deinit { writes.close() }

  /// Adds a write. Its bytes must not change until ``outcome()`` returns for it.
  func write(
    _ bytes: UnsafeRawBufferPointer, _ offset: Int64, _ makeWrite: @escaping GatheredWrites.Writing
  ) {
    nonisolated(unsafe) let bytes = unsafe bytes
    writes.send { unsafe makeWrite(bytes, offset) }
  }

  /// Waits for the end of the first write whose outcome was not returned yet.
  func outcome() -> GatheredWrites.Outcome? { outcomes.receive() }
}
