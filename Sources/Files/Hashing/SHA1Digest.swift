#if canImport(CryptoKit)
  import CryptoKit
#endif

/// A SHA-1 digest in the making (FIPS 180-4), for what is named or checked by it by others.
///
/// It tells damage, but no forgery.
public struct SHA1Digest: Sendable {
  private var hasher = Insecure.SHA1()

  /// Starts a digest of no bytes.
  public init() {}

  /// Takes more bytes in.
  public mutating func update(_ bytes: ArraySlice<UInt8>) {
    unsafe bytes.withUnsafeBytes { bytes in unsafe hasher.update(bufferPointer: bytes) }
  }

  /// The 20 bytes of the digest of all bytes so far.
  public var bytes: [UInt8] { Array(hasher.finalize()) }
}
