import Bytes

#if canImport(CryptoKit)
  import CryptoKit
#endif

/// A SHA-256 hasher (FIPS 180-4).
public struct Digest: Sendable {
  private var hasher = SHA256()

  /// Creates a hasher of no bytes.
  public init() {}

  /// Adds bytes.
  public mutating func update(_ bytes: ArraySlice<UInt8>) {
    unsafe bytes.withUnsafeBytes { bytes in unsafe hasher.update(bufferPointer: bytes) }
  }

  /// The 32 bytes of the digest of all bytes so far.
  public var bytes: [UInt8] { Array(hasher.finalize()) }

  /// The digest of all bytes so far, as 64 lower-case hexadecimal digits.
  public var hexadecimal: String {
    // Archives have many digests, so allocate nothing but the text.
    let digest = hasher.finalize()
    return unsafe String(unsafeUninitializedCapacity: 64) { text in
      unsafe digest.withUnsafeBytes { digest in
        for index in digest.indices {
          let byte = unsafe digest[index]
          unsafe text[2 * index] = Base16.digit(byte >> 4)
          unsafe text[2 * index + 1] = Base16.digit(byte)
        }
        return 2 * digest.count
      }
    }
  }
}

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
