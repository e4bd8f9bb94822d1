import Bytes
import Files
import ResponseStorage

/// The fingerprints of all responses of a source, which a thread reads at the same time as those of another source.
final class FingerprintsAhead {
  private struct Batch: Sendable {
    var prints: [EntryFingerprint] = []
    var byteCount = 0
    var leftOut: Int64 = 0
  }

  /// The number of bytes that fill a batch, and of batches that may wait.
  private static let mostBytes = 1 << 16
  private static let mostBatches = 8

  private let batches = Channel<Result<Batch, any Error>>()
  private let permits = Channel<Bool>()
  private var failure: (any Error)?
  /// The number of unreadable responses, among those that were taken.
  private var leftOut: Int64 = 0

  /// Starts the thread.
  ///
  /// - Parameter read: Reads the responses, from any thread.
  init(
    of read: @escaping @Sendable ((RawResponse) throws -> ScanStep) throws -> Void,
    by reading: FingerprintReading
  ) {
    for _ in 0..<Self.mostBatches { permits.send(true) }
    BackgroundThread.start("FingerprintsAhead") { [batches, permits] in
      defer { batches.close() }
      var batch = Batch()
      do {
        try read { raw in
          if let print = try reading.fingerprint(of: raw, nil) {
            batch.byteCount += print.length
            batch.prints.append(print)
          } else {
            batch.leftOut += 1
          }
          guard batch.byteCount >= Self.mostBytes else { return .next }
          guard permits.receive() != nil else { return .stop }
          batches.send(.success(batch))
          batch = Batch()
          return .next
        }
        batches.send(.success(batch))
      } catch { batches.send(.failure(error)) }
    }
  }

  deinit { permits.cancel() }

  /// Calls `body` with the fingerprints that were read meanwhile, without waiting for more.
  func takeReady(_ body: (EntryFingerprint) throws -> Void) rethrows {
    while let batch = batches.receiveNow() { try take(batch, body) }
  }

  /// Calls `body` with all other fingerprints, and returns the number of unreadable responses.
  ///
  /// - Throws: Any error of reading, or of `body`.
  func takeRest(_ body: (EntryFingerprint) throws -> Void) throws -> Int64 {
    while let batch = batches.receive() { try take(batch, body) }
    if let failure { throw failure }
    return leftOut
  }

  private func take(
    _ batch: Result<Batch, any Error>, _ body: (EntryFingerprint) throws -> Void
  ) rethrows {
    permits.send(true)
    switch batch {
    case .success(let batch):
      for print in batch.prints { try body(print) }
      leftOut += batch.leftOut
    // Not thrown yet, as an error of the other source may go first.
    case .failure(let error): failure = error
    }
  }
}
