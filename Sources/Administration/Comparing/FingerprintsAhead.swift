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

  /// The number of bytes that fill a batch.
  private static let mostBytes = 1 << 16

  private let batches: ReadAhead<Batch>
  /// The number of unreadable responses, among those that were taken.
  private var leftOut: Int64 = 0

  /// Starts the thread.
  ///
  /// - Parameter read: Reads the responses, from any thread.
  init(
    of read: @escaping @Sendable ((RawResponse) throws -> ScanStep) throws -> Void,
    by reading: FingerprintReading
  ) {
    batches = ReadAhead("FingerprintsAhead", most: 8) { send in
      var batch = Batch()
      try read { raw in
        if let print = try reading.fingerprint(of: raw, nil) {
          batch.byteCount += print.length
          batch.prints.append(print)
        } else {
          batch.leftOut += 1
        }
        guard batch.byteCount >= Self.mostBytes else { return .next }
        try send(batch)
        batch = Batch()
        return .next
      }
      try send(batch)
    }
  }

  /// Calls `body` with the fingerprints that were read meanwhile, without waiting for more.
  func takeReady(_ body: (EntryFingerprint) throws -> Void) rethrows {
    while let batch = batches.nextNow() { try take(batch, body) }
  }

  /// Calls `body` with all other fingerprints, and returns the number of unreadable responses.
  ///
  /// - Throws: Any error of reading, or of `body`.
  func takeRest(_ body: (EntryFingerprint) throws -> Void) throws -> Int64 {
    while let batch = try batches.next() { try take(batch, body) }
    return leftOut
  }

  private func take(_ batch: Batch, _ body: (EntryFingerprint) throws -> Void) rethrows {
    for print in batch.prints { try body(print) }
    leftOut += batch.leftOut
  }
}
