public import Bytes
import Files

/// The first 128 bits of the SHA-256 digest of a text, used as a key where a million texts would take too much
/// memory.
///
/// Finding a text with the digest of a given one is infeasible; finding two texts with the same digest takes 2^64
/// attempts.
public struct TextDigest: Hashable, Sendable {
  /// The first 64 bits.
  public let high: UInt64
  /// The other 64 bits.
  public let low: UInt64

  /// Creates a digest from its bits.
  public init(high: UInt64, low: UInt64) {
    (self.high, self.low) = (high, low)
  }

  /// Creates the digest of a text.
  public init(_ text: ByteString) {
    var digest = Digest()
    digest.update(text.bytes[...])
    let bytes = digest.bytes
    high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
    low = bytes[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
  }
}
