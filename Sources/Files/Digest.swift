#if canImport(CryptoKit)
  import CryptoKit
#else
  import Crypto
#endif

/// A SHA-256 digest in the making (FIPS 180-4).
public struct Digest: Sendable {
  private var hasher = SHA256()

  /// Starts a digest of no bytes.
  public init() {}

  /// Takes more bytes in.
  public mutating func update(_ bytes: ArraySlice<UInt8>) {
    unsafe bytes.withUnsafeBytes { bytes in unsafe hasher.update(bufferPointer: bytes) }
  }

  /// The 32 bytes of the digest of all bytes so far.
  public var bytes: [UInt8] { Array(hasher.finalize()) }

  /// The digest of all bytes so far, as 64 small hexadecimal digits.
  public var hexadecimal: String {
    let digits = Array("0123456789abcdef".utf8)
    // Archives have many digests: no allocation for each byte.
    var text: [UInt8] = []
    text.reserveCapacity(64)
    for byte in hasher.finalize() {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}
