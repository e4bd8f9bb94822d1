import Files
import ResponseStorage

/// A thread that prepares entries, while the one that it works for reads and writes others.
///
/// Entries go there and back in batches of a few, so that little waits for the other thread.
final class EntryPreparation {
  private struct Task: Sendable {
    var response: WholeResponse
    var number: Int64
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
              try PreparedEntry(export.entry(task.response.raw, number: task.number))
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
    guard let response = WholeResponse(raw) else { return false }
    batch.append(Task(response: response, number: number))
    batchBytes += response.byteCount
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
