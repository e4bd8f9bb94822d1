import Bytes
import Files
import ResponseStorage

/// Writes JSON (RFC 8259) in ASCII, with nothing in it that a terminal could take for a command.
///
/// The members of an object come in the order in which they are written.
struct JSONWriter {
  /// How the members of an object are set apart.
  enum Style {
    case oneLine
    /// Each member on a line of its own.
    case lines
  }

  /// What was written.
  private(set) var bytes: [UInt8]
  private var isFirst = true
  private var style = Style.oneLine

  /// Begins an empty document.
  init() {
    bytes = []
    bytes.reserveCapacity(2_048)
  }

  /// Writes an object; `members` writes each with ``member(_:_:)`` or ``member(named:_:)``.
  mutating func object(
    _ style: Style = .oneLine, _ members: (inout JSONWriter) throws -> Void
  ) rethrows {
    try enclosed(UInt8(ascii: "{"), UInt8(ascii: "}"), style, members)
  }

  /// Writes an array of values.
  mutating func array<Element>(
    _ elements: some Sequence<Element>, _ value: (inout JSONWriter, Element) throws -> Void
  ) rethrows {
    try enclosed(UInt8(ascii: "["), UInt8(ascii: "]"), .oneLine) { json in
      for element in elements {
        json.separate()
        try value(&json, element)
      }
    }
  }

  /// Writes a member of an object.
  ///
  /// - Parameter name: The name, of printable ASCII that JSON has as it is.
  mutating func member(
    _ name: StaticString, _ value: (inout JSONWriter) throws -> Void
  ) rethrows {
    separate()
    bytes.append(UInt8(ascii: "\""))
    bytes.append(name)
    bytes.append("\":")
    try value(&self)
  }

  /// Writes a member of an object, whose name need not be known beforehand.
  mutating func member(
    named name: String, _ value: (inout JSONWriter) throws -> Void
  ) rethrows {
    separate()
    string(name)
    bytes.append(UInt8(ascii: ":"))
    try value(&self)
  }

  /// Writes a member of an object, whose name is the UTF-8 of a text; what is not becomes U+FFFD.
  mutating func member(
    named name: ByteString, _ value: (inout JSONWriter) throws -> Void
  ) rethrows {
    separate()
    string(name.bytes)
    bytes.append(UInt8(ascii: ":"))
    try value(&self)
  }

  /// Writes `null`.
  mutating func null() { bytes.append("null") }

  /// Writes `true` or `false`.
  mutating func boolean(_ value: Bool) { bytes.append(value ? "true" : "false") }

  /// Writes a number.
  mutating func integer(_ value: Int64) { append(String(value)) }

  /// Writes a size, as a plain number.
  mutating func byteCount(_ count: ByteCount) { integer(count.bytes) }

  /// Ends the line.
  mutating func endLine() { bytes.append(UInt8(ascii: "\n")) }

  /// Writes a string, of bytes that are UTF-8; what is not becomes U+FFFD.
  mutating func string(_ text: [UInt8]) {
    string { $0.characters(text) }
  }

  /// Writes a string that comes piece by piece: `pieces` writes each with ``characters(_:)``.
  mutating func string(pieces: (inout JSONWriter) throws -> Void) rethrows {
    bytes.append(UInt8(ascii: "\""))
    try pieces(&self)
    bytes.append(UInt8(ascii: "\""))
  }

  /// Writes the next characters of a string, of bytes that are UTF-8; what is not becomes U+FFFD.
  mutating func characters(_ text: [UInt8]) {
    if Self.isPlain(text.span) {
      bytes.append(contentsOf: text)
    } else {
      escaped(String(decoding: text, as: UTF8.self))
    }
  }

  /// Gives away what was written, so that a long document is never in memory as a whole.
  mutating func take() -> [UInt8] {
    defer { bytes.removeAll(keepingCapacity: true) }
    return bytes
  }

  /// Writes a string.
  mutating func string(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    let start = bytes.count
    bytes.append(contentsOf: text.utf8)
    // Nearly all are plain, so that it is cheaper to look at what was written.
    if !Self.isPlain(bytes.span.extracting(start...)) {
      bytes.removeSubrange(start...)
      escaped(text)
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Whether JSON has the bytes as they are, and a terminal shows them.
  private static func isPlain(_ text: Span<UInt8>) -> Bool {
    PrintableASCII.isAll(of: text, but: UInt8(ascii: "\""), UInt8(ascii: "\\"))
  }

  private mutating func escaped(_ text: String) {
    for scalar in text.unicodeScalars { self.scalar(scalar) }
  }

  private mutating func scalar(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "\"": bytes.append("\\\"")
    case "\\": bytes.append("\\\\")
    case "\n": bytes.append("\\n")
    case "\r": bytes.append("\\r")
    case "\t": bytes.append("\\t")
    case " "..."~": bytes.append(UInt8(scalar.value))
    default:
      for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
        let digits = String(unit, radix: 16)
        append("\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits)
      }
    }
  }

  private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

  private mutating func enclosed(
    _ open: UInt8, _ close: UInt8, _ style: Style, _ body: (inout JSONWriter) throws -> Void
  ) rethrows {
    let outer = self.style
    bytes.append(open)
    (isFirst, self.style) = (true, style)
    try body(&self)
    if style == .lines { endLine() }
    bytes.append(close)
    (isFirst, self.style) = (false, outer)
  }

  private mutating func separate() {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    if style == .lines { endLine() }
    isFirst = false
  }
}

extension JSONWriter {
  /// The columns whose integers are strings: JavaScript and jq lose bits of those beyond 2^53.
  static let columnsOfLongIntegers = ["entry_ID", "hash_value"]

  /// Writes the value of a column, with its class.
  mutating func value(_ value: RawResponse.Value, of column: String) {
    let isLong = Self.columnsOfLongIntegers.contains(column)
    switch value {
    case .null: null()
    case .integer(let number) where isLong: string("\(number)")
    case .integer(let number) where number.magnitude > 1 << 53:
      object { $0.member("integer") { $0.string("\(number)") } }
    case .integer(let number): integer(number)
    case .real(let number): object { $0.member("real") { $0.string(number.hexadecimal) } }
    case .text(let text) where isLong: encoded(text)
    case .text(let text): self.text(text)
    case .blob(let bytes):
      object { $0.member("blob_b64") { $0.string(Base64.encode(bytes)) } }
    }
  }

  /// Writes a text: a string, or, if it is not UTF-8, an object with its Base64.
  mutating func text(_ text: ByteString) {
    if Self.isPlain(text.bytes.span) {
      bytes.append(UInt8(ascii: "\""))
      bytes.append(contentsOf: text.bytes)
      bytes.append(UInt8(ascii: "\""))
    } else if let text = text.string {
      string(text)
    } else {
      encoded(text)
    }
  }

  private mutating func encoded(_ text: ByteString) {
    object { $0.member("text_b64") { $0.string(Base64.encode(text.bytes)) } }
  }

  /// Writes a text or `null`.
  mutating func text(_ text: ByteString?) {
    if let text { self.text(text) } else { null() }
  }

  /// Writes a moment as RFC 3339 has it, its fraction of a second cut off, or `null`.
  mutating func time(_ moment: Timestamp?) {
    guard let moment else { return null() }
    bytes.append(UInt8(ascii: "\""))
    bytes.append(rfc3339: moment)
    bytes.append(UInt8(ascii: "\""))
  }

  /// Writes a moment as RFC 3339 has it, with milliseconds.
  mutating func preciseTime(_ moment: Timestamp) {
    let milliseconds = Int64((moment.secondsSince1970 * 1_000).rounded())
    let rest = milliseconds % 1_000
    let fraction = rest < 0 ? rest + 1_000 : rest
    let whole = Timestamp(secondsSince1970: Double((milliseconds - fraction) / 1_000)) ?? moment
    bytes.append(UInt8(ascii: "\""))
    bytes.append(CivilTime(whole))
    bytes.append(UInt8(ascii: "."))
    bytes.append(3, digitsOf: fraction)
    bytes.append("Z\"")
  }
}

extension Double {
  /// The number as C writes it with `%a`, which loses no bit: `0x1.8p+1`, `-inf`.
  var hexadecimal: String {
    let sign = self.sign == .minus ? "-" : ""
    if isNaN { return "nan" }
    if isInfinite { return sign + "inf" }
    if isZero { return sign + "0x0p+0" }
    let isSmall = exponentBitPattern == 0
    let exponent = isSmall ? -1022 : Int(exponentBitPattern) - 1023
    var digits = Array(String(significandBitPattern, radix: 16).utf8)
    digits.insert(contentsOf: repeatElement(UInt8(ascii: "0"), count: 13 - digits.count), at: 0)
    while digits.last == UInt8(ascii: "0") { digits.removeLast() }
    let fraction = digits.isEmpty ? "" : "." + String(decoding: digits, as: UTF8.self)
    return "\(sign)0x\(isSmall ? 0 : 1)\(fraction)p\(exponent < 0 ? "" : "+")\(exponent)"
  }
}
