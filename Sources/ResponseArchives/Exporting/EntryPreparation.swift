import Files
import ResponseStorage

/// A background thread that prepares entries while the calling thread reads and writes others.
///
/// Entries travel in small batches, so that the threads rarely wait for each other.
final class EntryPreparation {
  /// A response whose parts are all in memory. It is safe to send to another thread: only a part that is read from
  /// the store is tied to one thread. The compiler cannot know that, hence `@unchecked`.
  private struct Task: @unchecked Sendable {
    let raw: RawResponse
    let number: Int64
    /// The total size of the parts, in bytes.
    let byteCount: Int

    /// Creates a task; `nil` if a part is not in memory.
    init?(_ raw: RawResponse, number: Int64) {
      var byteCount = 0
      // A span avoids retaining and releasing the bytes of each part, as iterating over the array would.
      let parts = raw.parts.span
      for index in parts.indices {
        guard let content = parts[index].content else { continue }
        guard let bytes = content.bytes else { return nil }
        byteCount += bytes.count
      }
      (self.raw, self.number, self.byteCount) = (raw, number, byteCount)
    }
  }

  private typealias Prepared = Result<[PreparedEntry], any Error>

  /// The maximum number of batches in flight.
  private static let mostBatches = 3
  /// A batch is sent when it has this many entries or bytes.
  private static let (entriesInBatch, bytesInBatch) = (64, 128 << 10)

  private let tasks = Channel<[Task]>()
  private let results = Channel<Prepared>()
  private var batch: [Task] = []
  private var batchBytes = 0
  private var batchesAway = 0

  /// Starts the thread.
  init(for export: ArchiveExport) {
    let (tasks, results) = (tasks, results)
    BackgroundThread.start("EntryPreparation") {
      while let batch = tasks.receive() {
        results.send(
          Result {
            try batch.map { task in
              var entry = export.entry(task.raw, number: task.number)
              return try PreparedEntry(&entry, temporaryFolder: export.temporaryFolder)
            }
          })
      }
    }
  }

  deinit {
    // The thread waits for tasks until the channel is closed. Without this, it would outlive an
    // export that failed.
    tasks.close()
  }

  /// Queues a response.
  ///
  /// - Returns: `false`, without queuing it, if a part of it is not in memory.
  func add(_ raw: RawResponse, number: Int64) -> Bool {
    guard let task = Task(raw, number: number) else { return false }
    batch.append(task)
    batchBytes += task.byteCount
    if batch.count >= Self.entriesInBatch || batchBytes >= Self.bytesInBatch { sendBatch() }
    return true
  }

  private func sendBatch() {
    tasks.send(batch)
    batch.removeAll(keepingCapacity: true)
    batchBytes = 0
    batchesAway += 1
  }

  /// Calls `body` with prepared entries, in the order in which they were queued.
  ///
  /// - Parameter all: Whether to wait for all of them. If `false`, waits only while too many batches are in flight.
  func forEachPrepared(all: Bool, _ body: (borrowing PreparedEntry) throws -> Void) throws {
    if all, !batch.isEmpty { sendBatch() }
    while batchesAway > (all ? 0 : Self.mostBatches - 1), let result = results.receive() {
      batchesAway -= 1
      let entries = try result.get()
      // A span avoids retaining and releasing everything in each entry.
      let span = entries.span
      for index in span.indices { try body(span[index]) }
    }
  }
}
