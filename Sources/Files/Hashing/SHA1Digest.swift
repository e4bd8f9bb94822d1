#if canImport(CryptoKit)
  import CryptoKit
#endif

/// A SHA-1 hasher (FIPS 180-4), for formats that require it.
///
/// It detects damage, but not forgery.
public struct SHA1Digest: Sendable {
  private var hasher = Insecure.SHA1()

  /// Creates a hasher of no bytes.
  public init() {}

  /// Adds bytes.
  public mutating func update(_ bytes: ArraySlice<UInt8>) {
    unsafe bytes.withUnsafeBytes { bytes in unsafe hasher.update(bufferPointer: bytes) }
  }

  /// The 20 bytes of the digest of all bytes so far.
  public var bytes: [UInt8] { Array(hasher.finalize()) }
}
