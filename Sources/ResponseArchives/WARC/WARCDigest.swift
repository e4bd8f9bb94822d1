import Bytes
import Files

/// A digest in a WARC header.
///
/// Writers have always disagreed on what the payload of a record is: the bytes as sent, without transfer coding, or
/// without content coding. So several interpretations are tried.
struct WARCDigest {
  /// The algorithms that are verified; digests of other algorithms are ignored.
  enum Algorithm {
    case sha1, sha256
  }

  /// The algorithm.
  let algorithm: Algorithm

  /// The digest.
  let value: [UInt8]

  /// Creates a digest from `algorithm:value`, where the value is Base32, hexadecimal or Base64.
  ///
  /// - Throws: ``WARCError`` if the value does not fit the algorithm.
  /// - Returns: `nil` for an unknown algorithm.
  init?(_ label: ByteString) throws(WARCError) {
    guard let colon = label.bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let text = Array(label.bytes[(colon + 1)...].trimmingBlanks)
    switch ByteString(Array(label.bytes[..<colon])).asciiLowercased {
    case "sha1", "sha-1": algorithm = .sha1
    case "sha256", "sha-256": algorithm = .sha256
    default: return nil
    }
    let size = algorithm == .sha1 ? 20 : 32
    let value =
      switch text.count {
      // The specification leaves the encoding open. Most programs write Base32. This one writes
      // hexadecimal, which warcio and FastWARC verify as well.
      case size * 2: Base16.decode(text)
      case (size * 8 + 4) / 5...(size + 4) / 5 * 8: Base32.decode(text)
      default: Base64.decode(text)
      }
    guard let value, value.count == size else {
      throw WARCError("a digest of a record does not match its algorithm")
    }
    self.value = value
  }

  /// A running digest of the same algorithm.
  struct Making {
    private var sha1 = SHA1Digest()
    private var sha256 = Digest()
    private let digest: WARCDigest

    init(of digest: WARCDigest) { self.digest = digest }

    mutating func update(_ bytes: ArraySlice<UInt8>) {
      switch digest.algorithm {
      case .sha1: sha1.update(bytes)
      case .sha256: sha256.update(bytes)
      }
    }

    /// Whether this is a SHA-256 digest.
    var isSHA256: Bool { digest.algorithm == .sha256 }

    /// The digest of the bytes so far.
    var bytes: [UInt8] { isSHA256 ? sha256.bytes : sha1.bytes }

    /// Whether the bytes so far match the digest.
    var isRight: Bool { digest.value == bytes }
  }
}

/// Base32 (RFC 4648 §6).
enum Base32 {
  /// Decodes Base32 in either case, with or without padding; `nil` for anything else.
  static func decode(_ text: [UInt8]) -> [UInt8]? {
    var bytes: [UInt8] = []
    var (bits, count) = (0 as UInt32, 0)
    let padding = text.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    for byte in text.dropLast(padding) {
      switch byte.asciiLowercased {
      case let letter where 0x61...0x7A ~= letter: bits = bits << 5 | UInt32(letter - 0x61)
      case let digit where 0x32...0x37 ~= digit: bits = bits << 5 | UInt32(digit - 0x32 + 26)
      default: return nil
      }
      count += 5
      guard count >= 8 else { continue }
      count -= 8
      bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
    }
    return bytes
  }
}
