import Archive
import Bytes
import Files
import ResponseStorage

/// Background threads that prepare entries while the calling thread reads and writes others.
///
/// Entries travel in small batches, so that the threads rarely wait for each other. The threads get the batches in turn,
/// so their results are received in the order of the entries.
final class EntryPreparation {
  /// A response whose parts are all in memory. It is safe to send to another thread: only a part that is read from
  /// the store is tied to one thread. The compiler cannot know that, hence `@unchecked`.
  private struct Task: @unchecked Sendable {
    let raw: RawResponse
    let number: Int64
    /// The total size of the parts, in bytes.
    let byteCount: Int

    /// Creates a task, for which parts that are not in memory are read; `nil` if one is too large for that.
    ///
    /// - Parameter largest: The size of the largest part that is read, in bytes; `nil` to read none.
    init?(_ raw: RawResponse, number: Int64, readingUpTo largest: ByteCount?) throws {
      var byteCount = 0
      var stored: Int?
      // A span avoids retaining and releasing the bytes of each part, as iterating over the array would.
      let parts = raw.parts.span
      for index in parts.indices {
        guard let content = parts[index].content else { continue }
        if content.bytes == nil {
          // Only a body is ever so large that it is not in memory.
          guard let largest, content.size <= largest, stored == nil else { return nil }
          stored = index
        }
        byteCount += Int(clamping: content.size.bytes)
      }
      self.raw = try stored.map { try raw.readingPart(at: $0) } ?? raw
      (self.number, self.byteCount) = (number, byteCount)
    }
  }

  // Otherwise the calling thread would read the part twice, and all other threads would wait for it.
  /// The size of the largest part that is read into memory, in bytes.
  private static let largestRead = ByteCount(1 << 20)

  private typealias Prepared = Result<[PreparedEntry], any Error>

  /// The maximum number of batches in flight for each thread.
  private static let mostBatches = 3
  /// A batch is sent when it has this many entries or bytes.
  private static let (entriesInBatch, bytesInBatch) = (64, 128 << 10)

  /// A thread: the tasks that it gets, and their results.
  private struct Worker {
    let tasks = Channel<[Task]>()
    let results = Channel<Prepared>()
  }

  private let workers: [Worker]
  private let readsParts: Bool
  /// The numbers of batches that were sent and received.
  private var (sent, received) = (0, 0)
  private var batch: [Task] = []
  private var batchBytes = 0

  /// Starts the threads.
  init(for export: ArchiveExport, into container: ArchiveFormat) {
    readsParts = export.bodies != .none
    // Only for zip, entries are compressed here, which takes most of the time.
    let count = container == .zip ? min(processorCount, 4) : 1
    workers = (0..<count).map { _ in Worker() }
    for worker in workers {
      let (tasks, results) = (worker.tasks, worker.results)
      BackgroundThread.start("EntryPreparation") {
        let compressor = Result {
          container == .zip ? try DeflateCompressor(level: export.level ?? 6) : nil
        }
        while let batch = tasks.receive() {
          results.send(
            Result {
              let compressor = try compressor.get()
              return try batch.map { task in
                var entry = export.entry(task.raw, number: task.number)
                return try PreparedEntry(
                  &entry, temporaryFolder: export.temporaryFolder, compressor: compressor)
              }
            })
        }
      }
    }
  }

  deinit {
    // The threads wait for tasks until the channel is closed. Without this, they would outlive an
    // export that failed.
    for worker in workers { worker.tasks.close() }
  }

  /// Queues a response.
  ///
  /// - Returns: `false`, without queuing it, if a part of it is too large for memory.
  func add(_ raw: RawResponse, number: Int64) throws -> Bool {
    let largest = readsParts ? Self.largestRead : nil
    guard let task = try Task(raw, number: number, readingUpTo: largest) else { return false }
    batch.append(task)
    batchBytes += task.byteCount
    if batch.count >= Self.entriesInBatch || batchBytes >= Self.bytesInBatch { sendBatch() }
    return true
  }

  private func sendBatch() {
    workers[sent % workers.count].tasks.send(batch)
    batch.removeAll(keepingCapacity: true)
    batchBytes = 0
    sent += 1
  }

  /// Calls `body` with prepared entries, in the order in which they were queued.
  ///
  /// - Parameter all: Whether to wait for all of them. If `false`, waits only while too many batches are in flight.
  func forEachPrepared(all: Bool, _ body: (borrowing PreparedEntry) throws -> Void) throws {
    if all, !batch.isEmpty { sendBatch() }
    let most = all ? 0 : Self.mostBatches * workers.count - 1
    while sent - received > most,
      let result = workers[received % workers.count].results.receive()
    {
      received += 1
      let entries = try result.get()
      // A span avoids retaining and releasing everything in each entry.
      let span = entries.span
      for index in span.indices { try body(span[index]) }
    }
  }
}

extension RawResponse {
  /// Returns the response with a part in memory, after verifying its size and, if it is known, its digest.
  fileprivate func readingPart(at index: Int) throws -> RawResponse {
    guard let content = parts[index].content else { return self }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Int(clamping: content.size.bytes))
    // An unknown digest is computed on the other thread.
    if content.sha256 != nil {
      try content.forEachVerifiedChunk { bytes += $0 }
    } else {
      try content.forEachChunk { chunk in
        try checkSignals()
        bytes += chunk
      }
    }
    var response = self
    response.parts[index].content = Body(bytes)
    response.parts[index].content?.sha256 = content.sha256
    return response
  }
}
