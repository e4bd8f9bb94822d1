#if canImport(CryptoKit)
  import CryptoKit
#endif

/// A SHA-512 hasher (FIPS 180-4).
public struct SHA512Digest: Sendable {
  private var hasher = SHA512()

  /// Creates a hasher of no bytes.
  public init() {}

  /// Adds bytes.
  public mutating func update(_ bytes: ArraySlice<UInt8>) {
    unsafe bytes.withUnsafeBytes { bytes in unsafe hasher.update(bufferPointer: bytes) }
  }

  /// The 64 bytes of the digest of all bytes so far.
  public var bytes: [UInt8] { Array(hasher.finalize()) }
}
