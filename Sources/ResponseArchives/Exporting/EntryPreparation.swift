import Files
import ResponseStorage

/// A thread that prepares entries, while the one that it works for reads and writes others.
///
/// Entries go there and back in batches of a few, so that little waits for the other thread.
final class EntryPreparation {
  /// A response all of whose parts are in memory. What only one thread may have of a response is a part that is read
  /// where it is stored, so that the compiler cannot know that another thread may have this one.
  private struct Task: @unchecked Sendable {
    let raw: RawResponse
    let number: Int64
    /// The number of bytes of the parts.
    let byteCount: Int

    /// Creates a task; `nil` if a part is not in memory.
    init?(_ raw: RawResponse, number: Int64) {
      var byteCount = 0
      // A loop over the array would hold on to the bytes of each.
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

  /// How many batches are on their way at most.
  private static let mostBatches = 3
  /// How many entries, and how many of their bytes, are enough for a batch.
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
    tasks.close()
  }

  /// Hands a response over.
  ///
  /// - Returns: `false` if a part of it is not in memory, and nothing was done.
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

  /// Passes on what is prepared, in the order in which it was handed over.
  ///
  /// - Parameter all: Whether to wait for all; otherwise only for the first of too many batches.
  func forEachPrepared(all: Bool, _ body: (borrowing PreparedEntry) throws -> Void) throws {
    if all, !batch.isEmpty { sendBatch() }
    while batchesAway > (all ? 0 : Self.mostBatches - 1), let result = results.receive() {
      batchesAway -= 1
      let entries = try result.get()
      // A loop over the array would hold on to all that each entry has.
      let span = entries.span
      for index in span.indices { try body(span[index]) }
    }
  }
}
