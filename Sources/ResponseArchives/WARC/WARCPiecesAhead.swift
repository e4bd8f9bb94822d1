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

  // Many members are a request of some hundred bytes. One by one, handing them over would take longer than decoding.
  /// The number of bytes and of pieces that fill a batch.
  private static let (mostBytes, mostPieces) = (1 << 18, 256)

  private let batches: ReadAhead<[Piece]>
  private var pieces = [Piece]().makeIterator()

  /// Starts the thread.
  init(_ file: FileBytes, _ coding: ContentCoding) {
    batches = ReadAhead("WARCPiecesAhead", most: 4) { send in
      var (batch, byteCount) = ([Piece](), 0)
      do {
        let reader = ContentReader(coding, limit: .max, readingAt: file.read)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while try reader.nextMember() {
          var count = try reader.read(into: &buffer)
          var startsMember = true
          repeat {
            batch.append(
              Piece(
                bytes: Array(buffer[..<count]), member: reader.memberStart,
                startsMember: startsMember, decodedEnd: reader.decodedEnd))
            byteCount += count
            if byteCount >= Self.mostBytes || batch.count >= Self.mostPieces {
              try send(batch)
              (batch, byteCount) = ([], 0)
            }
            startsMember = false
            count = count == 0 ? 0 : try reader.read(into: &buffer)
          } while count > 0
        }
      } catch {
        try send(batch)
        throw error
      }
      try send(batch)
    }
  }

  /// Returns the next bytes, which may be none; `nil` at the end.
  ///
  /// - Throws: ``ContentDecodingError``, or any error of reading the file, each time after the last bytes.
  func next() throws -> Piece? {
    while true {
      if let piece = pieces.next() { return piece }
      guard let batch = try batches.next() else { return nil }
      pieces = batch.makeIterator()
    }
  }
}
