import Archive
import Bytes
import Files

/// The decoded bytes of a compressed WARC file, which a thread decodes before they are wanted.
final class WARCPiecesAhead {
  /// Some bytes of a gzip member.
  struct Piece: Sendable {
    var bytes: [UInt8]
    /// The offset of the member in the file.
    var member: Int64
    /// Whether these are the first bytes of the member.
    var startsMember: Bool
    /// The number of coded bytes that were decoded so far.
    var decodedEnd: Int64
  }

  private struct Batch: Sendable {
    var pieces: [Piece] = []
    var byteCount = 0
    /// The error after these pieces, or that there are no more.
    var end: Result<Void, any Error>?

    var isFull: Bool {
      byteCount >= WARCPiecesAhead.mostBytes || pieces.count >= WARCPiecesAhead.mostPieces
    }
  }

  // Many members are a request of some hundred bytes. One by one, handing them over would take longer than decoding.
  /// The number of bytes and of pieces that fill a batch.
  private static let mostBytes = 1 << 18
  private static let mostPieces = 256
  /// The number of batches that may exist at a time.
  private static let mostBatches = 4

  private let batches = Channel<Batch>()
  private let permits = Channel<Bool>()
  private var pieces = [Piece]().makeIterator()
  private var end: Result<Void, any Error>?

  /// Starts the thread.
  init(_ file: FileBytes, _ coding: ContentCoding) {
    for _ in 0..<Self.mostBatches { permits.send(true) }
    BackgroundThread.start("WARCPiecesAhead") { [batches, permits] in
      var batch = Batch()
      do {
        let reader = ContentReader(coding, limit: .max, readingAt: file.read)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while try reader.nextMember() {
          var count = try reader.read(into: &buffer)
          var startsMember = true
          repeat {
            batch.pieces.append(
              Piece(
                bytes: Array(buffer[..<count]), member: reader.memberStart,
                startsMember: startsMember, decodedEnd: reader.decodedEnd))
            batch.byteCount += count
            if batch.isFull {
              guard permits.receive() != nil else { return }
              batches.send(batch)
              batch = Batch()
            }
            startsMember = false
            count = count == 0 ? 0 : try reader.read(into: &buffer)
          } while count > 0
        }
        batch.end = .success(())
      } catch { batch.end = .failure(error) }
      batches.send(batch)
    }
  }

  deinit { permits.cancel() }

  /// Returns the next bytes, which may be none; `nil` at the end.
  ///
  /// - Throws: ``ContentDecodingError``, or any error of reading the file, each time after the last bytes.
  func next() throws -> Piece? {
    while true {
      if let piece = pieces.next() { return piece }
      if let end {
        try end.get()
        return nil
      }
      guard let batch = batches.receive() else { return nil }
      permits.send(true)
      (pieces, end) = (batch.pieces.makeIterator(), batch.end)
    }
  }
}
