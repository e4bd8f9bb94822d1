public import Bytes

/// The hash that an Apple store keeps for each cache key: CoreFoundation's hash of the key's UTF-16.
///
/// No lookup uses it. Source: `apple-cache.md`.
public struct CacheKeyHash: Hashable, Sendable {
  /// The hash.
  public let value: UInt64

  /// Hashes a key. Bytes that are not UTF-8 count as U+FFFD.
  public init(of key: ByteString) {
    // The UTF-16 units of ASCII text have the values of its bytes, so it is hashed without a copy.
    if key.bytes.allSatisfy({ $0 < 0x80 }) {
      value = Self.hash(key.bytes)
    } else {
      value = Self.hash(Array(String(decoding: key.bytes, as: UTF8.self).utf16))
    }
  }

  /// The value of `hash_value` for a response that was stored once: all 64 bits.
  public var whenInserted: Int64 { Int64(bitPattern: value) }

  /// The value of `hash_value` for a response that was stored again: the low 32 bits, sign-extended.
  // Of 8,148 responses, 4,444 have the long form and 3,704 the short one, and every response that
  // was provably stored again has the short one.
  public var whenUpdated: Int64 { Int64(Int32(truncatingIfNeeded: value)) }

  private static func hash(_ units: [some FixedWidthInteger & UnsignedInteger]) -> UInt64 {
    let count = units.count
    var result = UInt64(count)
    func addFours(_ range: Range<Int>) {
      for start in stride(from: range.lowerBound, to: range.upperBound, by: 4) {
        result =
          result &* 67_503_105 &+ UInt64(units[start]) &* 16_974_593
          &+ UInt64(units[start + 1]) &* 66_049 &+ UInt64(units[start + 2]) &* 257
          &+ UInt64(units[start + 3])
      }
    }
    if count <= 96 {
      let fours = count & ~3
      addFours(0..<fours)
      for unit in units[fours...] { result = result &* 257 &+ UInt64(unit) }
    } else {
      // CoreFoundation hashes only the first, middle and last 32 units of a long key.
      for start in [0, (count >> 1) - 16, count - 32] { addFours(start..<start + 32) }
    }
    return result &+ (result << UInt64(count & 31))
  }
}

/// The key under which CFNetwork looks a response up.
///
/// Source: `apple-cache.md`, "Key". Older schemas append the body of a request to its key; this is the key of
/// the newer ones, which do not.
public struct AppleCacheKey: Hashable, Sendable {
  /// The key, as in the column `request_key`.
  public let text: ByteString

  /// Creates the key of a request.
  ///
  /// The key is the URL with its fragment. Characters that are not allowed in a URL are percent-escaped, a `/`
  /// at the end of a URL with a query is removed, and the partition follows in brackets.
  public init(of url: ByteString, partition: ByteString? = nil) {
    let parts = URLParts(url.bytes)
    var key = parts.escaped
    // Observed in all 16 keys of real caches that this can apply to, all from OS X 10.10. The rule
    // for a path without a query was never seen, so a `/` at its end is kept, as in `http://host/`.
    if parts.query != nil, key.last == UInt8(ascii: "/") { key.removeLast() }
    if let partition { key += [UInt8(ascii: "[")] + partition.bytes + [UInt8(ascii: "]")] }
    text = ByteString(key)
  }
}
