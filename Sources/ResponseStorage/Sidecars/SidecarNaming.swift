public import Bytes
import Files

/// How an app derives the name of a sidecar file from the absolute URL of a request.
public enum SidecarNaming: String, Hashable, Sendable, CaseIterable {
  /// The MD5 digest, in lower-case hexadecimal digits.
  case md5
  /// The SHA-1 digest, in lower-case hexadecimal digits.
  case sha1
  /// The SHA-256 digest, in lower-case hexadecimal digits.
  case sha256
  /// The MD5 digest, in upper-case hexadecimal digits.
  case md5Capital = "md5-upper"
  /// The SHA-1 digest, in upper-case hexadecimal digits.
  case sha1Capital = "sha1-upper"
  /// The SHA-256 digest, in upper-case hexadecimal digits.
  case sha256Capital = "sha256-upper"
  /// `-[NSString hash]` of a 64-bit process, in decimal digits.
  case cfHash = "cfhash"

  /// A possible name of the sidecar file of a URL.
  public struct Name: Hashable, Sendable {
    /// How it is derived.
    public let naming: SidecarNaming
    /// The name.
    public let text: ByteString
  }

  /// Returns all possible names for a URL. There is no string hash for a URL that is not ASCII, which no absolute URL
  /// should be: CoreFoundation multiplies other units in 32 bits, with overflow.
  ///
  /// - Complexity: O(*n*), where *n* is the length of the URL.
  public static func names(of url: ByteString) -> [Name] {
    var names: [Name] = []
    var (md5, sha1, sha256) = (MD5Digest(), SHA1Digest(), Digest())
    md5.update(url.bytes[...])
    sha1.update(url.bytes[...])
    sha256.update(url.bytes[...])
    for (small, capital, digest) in [
      (Self.md5, Self.md5Capital, md5.bytes), (.sha1, .sha1Capital, sha1.bytes),
      (.sha256, .sha256Capital, sha256.bytes),
    ] {
      names.append(Name(naming: small, text: ByteString(Base16.encode(digest))))
      names.append(Name(naming: capital, text: ByteString(Base16.encode(digest, .capital))))
    }
    if url.bytes.allSatisfy({ (0x21...0x7E).contains($0) }) {
      names.append(Name(naming: .cfHash, text: ByteString(String(StringHash.of(url.bytes)))))
    }
    return names
  }

  /// Returns the name for a URL; `nil` if there is none.
  public func name(of url: ByteString) -> ByteString? {
    Self.names(of: url).first { $0.naming == self }?.text
  }

  /// Whether a name may have been derived in this way; names of digits only match both cases.
  public func mayMake(_ name: [UInt8]) -> Bool {
    let small = UInt8(ascii: "a")...UInt8(ascii: "f")
    let capital = UInt8(ascii: "A")...UInt8(ascii: "F")
    func isHexadecimal(_ count: Int, _ letters: ClosedRange<UInt8>) -> Bool {
      name.count == count && name.allSatisfy { $0.isASCIIDigit || letters.contains($0) }
    }
    return switch self {
    case .md5: isHexadecimal(32, small)
    case .sha1: isHexadecimal(40, small)
    case .sha256: isHexadecimal(64, small)
    case .md5Capital: isHexadecimal(32, capital)
    case .sha1Capital: isHexadecimal(40, capital)
    case .sha256Capital: isHexadecimal(64, capital)
    // A 64-bit number has at most 20 digits.
    case .cfHash:
      (1...20).contains(name.count) && name.allSatisfy(\.isASCIIDigit)
        && (name.count == 1 || name[0] != UInt8(ascii: "0"))
        // Twenty digits can be more than 64 bits have.
        && UInt64(String(decoding: name, as: UTF8.self)) != nil
    }
  }
}

/// CoreFoundation's hash of an ASCII string.
///
/// Source: `CFStringHash` in `CFString.c` of swift-corelibs-foundation, with which the tests compare it. It hashes a
/// string of up to 96 UTF-16 units as a whole, and 32 units at the start, middle and end of a longer one.
enum StringHash {
  private static let wholeCount = 96
  private static let partCount = 32

  /// Returns the hash in a 64-bit process.
  static func of(_ units: [UInt8]) -> UInt64 {
    var hash = UInt64(units.count)
    if units.count <= wholeCount {
      combine(units[...], into: &hash)
    } else {
      let middle = units.count / 2 - partCount / 2
      combine(units[..<partCount], into: &hash)
      combine(units[middle..<middle + partCount], into: &hash)
      combine(units[(units.count - partCount)...], into: &hash)
    }
    return hash &+ (hash &<< UInt64(units.count & 31))
  }

  /// Adds four units at a time, and then the remaining ones.
  ///
  /// The multiplier is 257⁴ truncated to 32 bits, even for a 64-bit hash; multiplying by 257 four times would give
  /// another hash.
  private static func combine(_ units: ArraySlice<UInt8>, into hash: inout UInt64) {
    var units = units
    while units.count >= 4 {
      let four = units.prefix(4).reduce(0 as UInt64) { $0 &* 257 &+ UInt64($1) }
      hash = hash &* 67_503_105 &+ four
      units = units.dropFirst(4)
    }
    for unit in units { hash = hash &* 257 &+ UInt64(unit) }
  }
}
