import Files

/// A digest of everything that a store keeps of an entry except its id, which shows without decoding that two entries
/// are equal.
public struct ContentDigest: Hashable, Comparable, Sendable {
  // The first 128 bits of SHA-256: there may be millions of digests.

  /// The first 64 bits.
  public let high: UInt64
  /// The other 64 bits.
  public let low: UInt64

  /// Creates a digest from its two halves.
  public init(high: UInt64, low: UInt64) {
    (self.high, self.low) = (high, low)
  }

  /// Creates the digest of bytes.
  init(of bytes: [UInt8]) {
    var digest = Digest()
    digest.update(bytes[...])
    var (high, low): (UInt64, UInt64) = (0, 0)
    for (index, byte) in digest.bytes.prefix(16).enumerated() {
      if index < 8 { high = high << 8 | UInt64(byte) } else { low = low << 8 | UInt64(byte) }
    }
    self.init(high: high, low: low)
  }

  public static func < (first: Self, second: Self) -> Bool {
    first.high == second.high ? first.low < second.low : first.high < second.high
  }
}

/// An entry with its digest.
public struct DigestedEntry: Sendable {
  /// The number of the entry.
  public let id: Int64
  /// The digest; `nil` if only the decoded entry can be compared.
  public let digest: ContentDigest?
}
