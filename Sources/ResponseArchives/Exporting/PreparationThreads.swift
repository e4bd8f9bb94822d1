import Bytes
import Files

/// Background threads that prepare entries for an archive while the calling thread reads and writes others.
///
/// Entries travel in small batches, so that the threads rarely wait for each other. The results are received in the
/// order of the entries.
final class PreparationThreads<Entry: Sendable, Prepared: Sendable> {
  /// Prepares a batch of entries.
  typealias Work = ([Entry]) throws -> Prepared

  /// A batch is sent when it has this many entries or bytes.
  private let (entriesInBatch, bytesInBatch) = (64, ByteCount(128 << 10))
  // While one thread compresses a large body, the others need work for as long. Decoded entries take more memory than
  // their bytes, hence two limits.
  /// The numbers of batches and bytes in flight, above which the calling thread waits for results.
  private let (mostBatches, mostBytes) = (16, ByteCount(4 << 20))

  private typealias Output = Channel<Result<Prepared, any Error>>

  private let batches = Channel<(entries: [Entry], output: Output)>()
  /// The batches that were sent and whose results were not received, in order.
  private var inFlight: [(byteCount: ByteCount, output: Output)] = []
  private var bytesInFlight: ByteCount = 0
  private var batch: [Entry] = []
  private var batchBytes: ByteCount = 0

  /// Starts a thread for each processor.
  ///
  /// - Parameters:
  ///   - most: The largest number of threads.
  ///   - makeWork: Returns the work of a thread, and is called on it.
  init(most: Int = 4, _ makeWork: @escaping @Sendable () throws -> Work) {
    for _ in 0..<min(processorCount, most) {
      BackgroundThread.start("PreparationThreads") { [batches] in
        let work = Result { try makeWork() }
        while let (entries, output) = batches.receive() {
          output.send(Result { try work.get()(entries) })
        }
      }
    }
  }

  deinit {
    // The threads wait for batches until the channel is closed. Without this, they would outlive an
    // export that failed.
    batches.cancel()
  }

  /// Queues an entry.
  ///
  /// - Parameter byteCount: Its approximate size in memory, in bytes.
  func add(_ entry: Entry, byteCount: ByteCount) {
    batch.append(entry)
    batchBytes += byteCount
    if batch.count >= entriesInBatch || batchBytes >= bytesInBatch { sendBatch() }
  }

  private func sendBatch() {
    let output = Output()
    batches.send((batch, output))
    inFlight.append((batchBytes, output))
    bytesInFlight += batchBytes
    batch.removeAll(keepingCapacity: true)
    batchBytes = 0
  }

  /// Calls `body` with the results of batches, in the order of their entries.
  ///
  /// - Parameter all: Whether to wait for all of them. If `false`, waits only while too much is in flight.
  func forEachResult(all: Bool, _ body: (Prepared) throws -> Void) throws {
    if all, !batch.isEmpty { sendBatch() }
    while let oldest = inFlight.first,
      all || inFlight.count > mostBatches || bytesInFlight > mostBytes,
      let result = oldest.output.receive()
    {
      inFlight.removeFirst()
      bytesInFlight -= oldest.byteCount
      try body(try result.get())
    }
  }
}
