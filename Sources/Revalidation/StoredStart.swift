import Bytes
import HTTPCaching
import ResponseStorage

/// The beginning of a body, as it is stored: what the rest of it is joined to.
struct StoredStart: Hashable, Sendable {
  /// Where it is kept.
  let pieces: [BodySpool.Piece]

  /// The number of bytes.
  let size: ByteCount

  /// The digests that the stored response gives.
  let digests: DigestFields

  /// Reads the beginning of a body and keeps it.
  ///
  /// - Parameter size: The number of bytes.
  /// - Returns: `nil` if so much of it is not there, or cannot be read.
  /// - Throws: What the spool throws.
  init?(
    _ size: ByteCount, of id: StoredResponse.ID, from source: any ResponseSource,
    in spool: BodySpool
  ) throws {
    var pieces: [BodySpool.Piece] = []
    var rest = size
    var fields: HeaderFields?
    do {
      fields = try source.response(id, .responseHeaders)?.responseHeaders
      try source.withBody(of: id) { reader in
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while rest > 0, case let count = try reader.read(into: &buffer), count > 0 {
          let taken = min(ByteCount(count), rest)
          try spool.append(Array(buffer.prefix(Int(taken.bytes))), to: &pieces)
          rest -= taken
        }
      }
    } catch is StoreError {
      return nil
    }
    guard rest == 0, let fields else { return nil }
    self.pieces = pieces
    self.size = size
    digests = DigestFields(FieldSection(fields))
  }
}
