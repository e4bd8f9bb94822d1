public import Bytes
import Files
public import ResponseStorage

extension RawResponse {
  /// The size of the body in bytes, if there is one.
  public var bodySize: ByteCount? { part(.body)?.content?.size }
}

extension Body {
  /// The SHA-256 digest of all bytes, in small hexadecimal digits. They are read, unless it is known.
  ///
  /// - Throws: What reading throws, or ``FileError`` if a signal ends it.
  public func digest() throws -> String {
    if let sha256 { return sha256 }
    if let bytes { return Digest(of: bytes).hexadecimal }
    var digest = Digest()
    try forEachChunk { chunk in
      try checkSignals()
      digest.update(chunk)
    }
    return digest.hexadecimal
  }

  /// Reads all bytes for the errors that reading throws. Bytes in memory have none.
  public func readThrough() throws {
    if bytes == nil { try forEachChunk { _ in try checkSignals() } }
  }
}

extension Digest {
  /// The digest of some bytes.
  init(of bytes: [UInt8]) {
    self.init()
    update(bytes[...])
  }
}
