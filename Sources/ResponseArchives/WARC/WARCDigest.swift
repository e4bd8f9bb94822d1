import Bytes
import Files
import ResponseStorage

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

/// The labels that identify WARC files of this program, which can be read more strictly than others.
enum WARCLabel {
  /// The software name in the first record, before the version.
  static let software = "urlcache-admin/"

  /// The start of the last record; the number of entries follows.
  static let end = "urlcache-admin-entries: "

  /// The prefix for header fields that no longer describe the body, as it is stored without codings.
  static let originalPrefix = "X-Urlcache-Orig-"

  /// The header fields that describe the body as it was sent.
  private static let transferNames: [ByteString] = [
    "content-encoding", "transfer-encoding", "content-length", "connection",
  ]

  /// Whether a header field describes the body as it was sent.
  static func isOfTransfer(_ name: ByteString) -> Bool {
    transferNames.contains { $0.equalsIgnoringASCIICase(name) }
  }

  /// Returns the header fields for a record, with the size of the stored body.
  ///
  /// Strict readers would decode a body that is stored decoded if `Content-Encoding` stayed.
  static func renamed(_ headers: HeaderFields, bodySize: ByteCount?) -> HeaderFields {
    var fields = headers.fields.map { field in
      guard isOfTransfer(field.name) else { return field }
      return .init(
        name: ByteString(Array(originalPrefix.utf8) + field.name.bytes), value: field.value)
    }
    // Content-Length must be that of the record, or strict readers take the body for cut off.
    if let bodySize {
      fields.append(.init(name: "Content-Length", value: ByteString("\(bodySize)")))
    }
    return HeaderFields(fields)
  }

  /// Returns the header fields of a record, as they were before ``renamed(_:bodySize:)``.
  static func original(_ headers: HeaderFields) -> HeaderFields {
    let prefix = originalPrefix.utf8
    return HeaderFields(
      headers.fields.compactMap { field in
        if isOfTransfer(field.name) { return nil }
        let isRenamed = field.name.bytes.starts(with: prefix) {
          $0.asciiLowercased == $1.asciiLowercased
        }
        guard isRenamed else { return field }
        let name = ByteString(Array(field.name.bytes.dropFirst(prefix.count)))
        return .init(name: name, value: field.value)
      })
  }
}

extension WARCHeader {
  /// The id that this program gives to a record. It is derived from all other fields, so that it reveals changes to
  /// them: WARC has no digest of the header.
  var derivedID: ByteString {
    var others: [UInt8] = []
    for field in fields where !field.name.equalsIgnoringASCIICase("warc-record-id") {
      others += field.line
    }
    return ByteString("<urn:uuid:\(NameUUID.make(of: others))>")
  }
}

extension Timestamp {
  /// Creates a timestamp from a WARC date in the W3C profile of ISO 8601 (ISO 28500:2017, section 5.4): `2024`,
  /// `2024-02`, `2024-02-03`, `2024-02-03T04:05Z`, or `2024-02-03T04:05:06Z` with up to nine fractional digits; `nil` if
  /// it is invalid.
  init?(warcDate text: ByteString) {
    // A shortened date means the first second of its period.
    let first = Array("0000-01-01T00:00:00Z".utf8)
    let isCut = [4, 7, 10].contains(text.bytes.count)
    var text = isCut ? text.bytes + first[text.bytes.count...] : text.bytes
    if text.count == 17, text.last == UInt8(ascii: "Z") {
      text.replaceSubrange(16..., with: first[16...])
    }
    self.init(iso8601: text, .w3c)
  }

  /// The date in the format of WARC 1.1, in UTC, with microseconds unless it is a whole second.
  var warcDate: [UInt8] {
    let fraction = secondsSince1970 - Double(wholeSeconds)
    // Rounding up to a whole second would need a carry into minutes, hours and days. A microsecond
    // less is within the precision of the stored time.
    let microseconds = min(Int64((fraction * 1e6).rounded()), 999_999)
    var text: [UInt8] = []
    text.append(CivilTime(self))
    if microseconds > 0 {
      text.append(UInt8(ascii: "."))
      text.append(6, digitsOf: microseconds)
    }
    return text + [UInt8(ascii: "Z")]
  }

  /// The date as 14 digits, without fractions of a second, as in CDXJ indexes.
  var warcDigits: [UInt8] {
    let time = CivilTime(self)
    var text: [UInt8] = []
    text.append(4, digitsOf: time.year)
    for part in [time.month, time.day, time.hour, time.minute, time.second] {
      text.append(2, digitsOf: part)
    }
    return text
  }
}
