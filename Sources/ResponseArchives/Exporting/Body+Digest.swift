public import Bytes
import Files
public import ResponseStorage

extension RawResponse {
  /// The size of the body, in bytes; `nil` if there is none.
  public var bodySize: ByteCount? { part(.body)?.content?.size }
}

extension Body {
  /// Returns the SHA-256 digest of the body, in lowercase hexadecimal. Reads the body unless the digest is known.
  ///
  /// - Throws: Any error from reading, or ``FileError`` if a signal interrupts it.
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

  /// Reads the whole body only to surface read errors. Does nothing for a body in memory, or one that was verified.
  public func readThrough() throws {
    // A body of gigabytes takes seconds to read, in which a signal must still end the command.
    if bytes == nil, !isVerified { try forEachChunk { _ in try checkSignals() } }
  }
}

extension Digest {
  /// Creates the digest of an array of bytes.
  init(of bytes: [UInt8]) {
    self.init()
    update(bytes[...])
  }
}
