import Files
import ResponseStorage

/// Passes entries to threads, and passes on the results in the order of the entries.
///
/// This thread reads the entries. Other threads decode the bodies and work on them.
final class EntryBatches<Work: EntryWork> {
  typealias Result = EntryWorkResult<Work>

  /// The work, before any entry.
  let initialWork: Work
  /// Whether the work needs the bodies of entries.
  let wantsBodies: Bool
  private var work: Work
  private let threadCount: Int

  /// The threads, if there are more entries than one batch.
  private var threads: EntryThreads<Work>?
  private var batch = EntryBatch()
  /// Whether a thread has failed.
  private var hasFailed = false
  /// The number of batches sent, without the one of which the last body is being sent, and of those received.
  private var (sent, received) = (0, 0)
  /// The number of long bodies sent to each thread.
  private var longBodies: [Int]
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  /// The maximum number of entries and of bytes of a batch. A body that is longer is sent in pieces.
  private static var mostEntries: Int { 32 }
  private static var mostBytes: Int { 64 << 10 }

  /// Creates an empty batch.
  ///
  /// - Parameters:
  ///   - wantsBodies: Whether the work needs the bodies of entries.
  ///   - threadCount: The number of threads that work; by default one for each processor, up to 4.
  init(_ work: Work, wantsBodies: Bool = true, threadCount: Int = min(processorCount, 4)) {
    (initialWork, self.work, self.wantsBodies) = (work, work, wantsBodies)
    self.threadCount = threadCount
    longBodies = Array(repeating: 0, count: threadCount)
  }

  deinit { threads?.close() }

  /// Adds an entry.
  ///
  /// - Parameters:
  ///   - isEnough: Whether no more than this beginning of the body is wanted.
  ///   - receive: Takes results of this entry and of earlier ones.
  func add(
    _ response: borrowing StoredResponse, _ body: ScannedBody,
    until isEnough: (ArraySlice<UInt8>, StoredResponse) -> Bool,
    _ receive: (Result) throws -> Void
  ) throws {
    let (response, start) = (copy response, batch.bytes.count)
    var isThere = wantsBodies
    var failure: (any Error)?
    var lane: Int?
    if wantsBodies {
      do {
        isThere = try body.read { reader in
          while case let count = try reader.read(into: &buffer), count > 0 {
            guard let lane else {
              lane = try insert(buffer[..<count], of: response, from: start, receive)
              if batch.bytes.count - start == count, isEnough(buffer[..<count], response) { break }
              continue
            }
            try send(.piece(Array(buffer[..<count])), receive)
            if threads?.isUnwanted(longBodies[lane], by: lane) == true { break }
          }
        }
      } catch let error as ReceivingFailure { throw error.error } catch { failure = error }
    }
    if let lane {
      try rethrowing { () throws(ReceivingFailure) in try send(.end(failure), receive) }
      longBodies[lane] += 1
      sent += 1
      return
    }
    let content: EntryBatch.Content =
      if let failure { .failure(failure) } else if isThere {
        .bytes(start..<batch.bytes.count)
      } else {
        .missing
      }
    batch.entries.append((response, content))
    if batch.entries.count >= Self.mostEntries || batch.bytes.count >= Self.mostBytes {
      try rethrowing { () throws(ReceivingFailure) in _ = try sendBatch(receive) }
      sent += 1
    }
  }

  /// Works on everything that was added, and waits for the results; after the failure of a thread, for nothing.
  func finish(_ receive: (Result) throws -> Void) throws {
    // Its thread has ended, and never answers again.
    if hasFailed { return }
    guard let threads else {
      for (response, content) in batch.entries {
        let body = ArrivingBody(content, of: batch) { nil }
        try work.process(response, body.scanned) { part, _ in try receive(.part(part)) }
      }
      batch = EntryBatch()
      return try receive(.summary(work.endBatch { part, _ in try receive(.part(part)) }))
    }
    if !batch.entries.isEmpty {
      try rethrowing { () throws(ReceivingFailure) in _ = try sendBatch(receive) }
      sent += 1
    }
    while received < sent { try pass(threads.receive(from: received % threadCount), to: receive) }
  }

  /// Adds bytes of a body to the batch, and sends it if the body is long.
  ///
  /// - Returns: The thread to which the rest of the body must be sent.
  private func insert(
    _ piece: ArraySlice<UInt8>, of response: StoredResponse, from start: Int,
    _ receive: (Result) throws -> Void
  ) throws(ReceivingFailure) -> Int? {
    batch.bytes += piece
    guard batch.bytes.count - start >= Self.mostBytes else { return nil }
    batch.entries.append((response, .start(start..<batch.bytes.count)))
    return try sendBatch(receive)
  }

  /// Sends the batch, and returns the thread that gets it.
  private func sendBatch(
    _ receive: (Result) throws -> Void
  ) throws(ReceivingFailure) -> Int {
    if threads == nil { threads = EntryThreads(threadCount, initialWork) }
    try send(.batch(batch), receive)
    batch = EntryBatch()
    return sent % threadCount
  }

  /// Sends something to the thread of the current batch, and meanwhile passes on results of others.
  private func send(
    _ input: EntryInput, _ receive: (Result) throws -> Void
  ) throws(ReceivingFailure) {
    guard let threads else { return }
    while let outputs = threads.send(
      input, to: sent % threadCount, orReceiveFrom: received % threadCount)
    {
      do { try pass(outputs, to: receive) } catch { throw ReceivingFailure(error: error) }
    }
  }

  private func pass(
    _ outputs: [EntryThreads<Work>.Output], to receive: (Result) throws -> Void
  ) throws {
    for output in outputs {
      switch output {
      case .part(let part, _): try receive(.part(part))
      case .done(let summary):
        received += 1
        try receive(.summary(summary))
      case .failure(let error):
        hasFailed = true
        throw error
      }
    }
  }

  /// Calls `body`, and throws the error of receiving that ended it.
  private func rethrowing(_ body: () throws(ReceivingFailure) -> Void) throws {
    do throws(ReceivingFailure) { try body() } catch { throw error.error }
  }
}

/// An error of a thread or of taking its results, which is no error of the body that is being read.
private struct ReceivingFailure: Error {
  let error: any Error
}

/// Consecutive entries, with their bodies as stored.
struct EntryBatch: Sendable {
  /// The body of an entry.
  enum Content: Sendable {
    case missing
    case bytes(Range<Int>)
    /// The first bytes; the rest follows.
    case start(Range<Int>)
    /// A body that could not be read.
    case failure(any Error)
  }

  var entries: [(response: StoredResponse, body: Content)] = []
  /// The bytes of the bodies.
  var bytes: [UInt8] = []
}

/// What the thread that reads the cache sends to the threads that work on its entries.
enum EntryInput: Sendable {
  case batch(EntryBatch)
  /// The next bytes of the last body of the batch.
  case piece([UInt8])
  /// The end of the last body of the batch, or the error that ended it.
  case end((any Error)?)
}
