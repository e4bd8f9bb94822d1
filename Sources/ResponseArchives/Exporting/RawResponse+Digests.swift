public import Bytes
import Files
public import ResponseStorage

extension RawResponse {
  /// The size of the body in bytes, if there is one.
  public var bodySize: ByteCount? { part(.body)?.size }
}

extension RawResponse.Part {
  /// The number of bytes; `nil` if there is nothing.
  public var size: ByteCount? {
    switch contents {
    case .null: nil
    case .bytes(let bytes): ByteCount(bytes.count)
    case .stream(let stream): stream.size
    }
  }

  /// The SHA-256 digest of the bytes; `nil` if there is nothing.
  public func digest() throws -> String? {
    switch contents {
    case .null: nil
    case .bytes(let bytes): Digest(of: bytes).hexadecimal
    case .stream(let stream): try stream.sha256 ?? stream.digest()
    }
  }

  /// Reads all bytes, for the errors that come of it.
  public func readThrough() throws {
    guard case .stream(let stream) = contents else { return }
    try stream.read { reader in
      var buffer = stream.buffer
      while try reader.read(into: &buffer) > 0 { try checkSignals() }
    }
  }
}

extension RawResponse.PartStream {
  /// The SHA-256 digest of the bytes, which are read.
  public func digest() throws -> String {
    var digest = Digest()
    try read { reader in
      var buffer = buffer
      while case let count = try reader.read(into: &buffer), count > 0 {
        try checkSignals()
        digest.update(buffer[..<count])
      }
    }
    return digest.hexadecimal
  }
}
