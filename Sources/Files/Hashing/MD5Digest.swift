#if canImport(CryptoKit)
  import CryptoKit
#endif

/// An MD5 digest in the making (RFC 1321), for what others name or check by it.
///
/// It protects from damage, and from no forgery.
public struct MD5Digest: Sendable {
  private var hasher = Insecure.MD5()

  /// Starts a digest of no bytes.
  public init() {}

  /// Takes more bytes in.
  public mutating func update(_ bytes: ArraySlice<UInt8>) {
    unsafe bytes.withUnsafeBytes { bytes in unsafe hasher.update(bufferPointer: bytes) }
  }

  /// The 16 bytes of the digest of all bytes so far.
  public var bytes: [UInt8] { Array(hasher.finalize()) }
}
