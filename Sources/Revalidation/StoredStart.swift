import Bytes
import HTTPCaching
import ResponseStorage

/// The stored beginning of a body, to be joined with the rest.
struct StoredStart: Hashable, Sendable {
  /// The location in the spool.
  let pieces: [BodySpool.Piece]

  /// The size.
  let size: ByteCount

  /// The header fields of the stored response.
  let fields: FieldSection

  /// The digests in the stored response.
  var digests: DigestFields { DigestFields(fields) }

  init(pieces: [BodySpool.Piece], size: ByteCount, fields: FieldSection) {
    (self.pieces, self.size, self.fields) = (pieces, size, fields)
  }

  /// Copies the beginning of a body to the spool.
  ///
  /// - Parameter size: The number of bytes.
  /// - Returns: `nil` if the body is shorter, or cannot be read.
  /// - Throws: The error that the spool throws.
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
    // The app may have replaced the entry since it was read. A shorter beginning would leave a hole
    // in the joined body.
    guard rest == 0, let fields else { return nil }
    self.init(pieces: pieces, size: size, fields: FieldSection(fields))
  }
}
