import Bytes
import Files
import HTTPCaching
import ResponseStorage

/// The digests of a body, for some algorithms.
struct DigestCheck {
  private var digests: [DigestFields.Algorithm: [UInt8]] = [:]

  /// Reads a body once, and calculates the digests for the given values.
  init(of body: Body, for values: [DigestFields.Value]) throws {
    let algorithms = Set(values.map(\.algorithm))
    guard !algorithms.isEmpty else { return }
    var (md5, sha1, sha256, sha512) = (MD5Digest(), SHA1Digest(), Digest(), SHA512Digest())
    // All digests in one pass, as the body may be larger than memory.
    try body.forEachChunk { bytes in
      if algorithms.contains(.md5) { md5.update(bytes) }
      if algorithms.contains(.sha1) { sha1.update(bytes) }
      if algorithms.contains(.sha256) { sha256.update(bytes) }
      if algorithms.contains(.sha512) { sha512.update(bytes) }
    }
    for algorithm in algorithms {
      digests[algorithm] =
        switch algorithm {
        case .md5: md5.bytes
        case .sha1: sha1.bytes
        case .sha256: sha256.bytes
        case .sha512: sha512.bytes
        }
    }
  }

  /// Whether the body has this digest; `false` if it is not Base64.
  func agrees(with value: DigestFields.Value) -> Bool {
    Base64.decode(value.base64) == digests[value.algorithm]
  }
}
