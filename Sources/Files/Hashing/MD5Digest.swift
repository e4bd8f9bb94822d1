#if canImport(CryptoKit)
  import CryptoKit
#endif

/// An MD5 hasher (RFC 1321), for formats that require it.
///
/// It detects damage, but not forgery.
public struct MD5Digest: Sendable {
  // Needed for `Content-MD5` and for sidecar files named by it, and never for what an archive
  // of our own promises.
  private var hasher = Insecure.MD5()

  /// Creates a hasher of no bytes.
  public init() {}

  /// Adds bytes.
  public mutating func update(_ bytes: ArraySlice<UInt8>) {
    unsafe bytes.withUnsafeBytes { bytes in unsafe hasher.update(bufferPointer: bytes) }
  }

  /// The 16 bytes of the digest of all bytes so far.
  public var bytes: [UInt8] { Array(hasher.finalize()) }
}
