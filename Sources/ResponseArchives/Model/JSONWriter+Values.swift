import Bytes
import JSON
import ResponseStorage

extension JSONWriter {
  /// The columns whose integers are written as strings: JavaScript and jq lose bits beyond 2^53.
  static let columnsOfLongIntegers = ["entry_ID", "hash_value"]

  /// Writes the value of a column, with its SQLite storage class.
  mutating func value(_ value: RawResponse.Value, of column: String) {
    let isLong = Self.columnsOfLongIntegers.contains(column)
    switch value {
    case .null: null()
    case .integer(let number) where isLong: self.value("\(number)")
    case .integer(let number) where number.magnitude > 1 << 53:
      object { $0.member("integer", "\(number)") }
    case .integer(let number): self.value(number)
    // Hexadecimal is exact in every language. Decimal digits depend on how a reader rounds.
    case .real(let number): object { $0.member("real", number.hexadecimal) }
    // A string would be read back as an integer in these columns.
    case .text(let text) where isLong: object { $0.encodedMember(text) }
    case .text(let text): self.text(text)
    case .blob(let bytes):
      object {
        $0.key("blob_b64")
        $0.base64(bytes)
      }
    }
  }

  /// Writes a text as a string, as an object with its Base64 if it is not UTF-8, or as `null`.
  mutating func text(_ text: ByteString?) {
    guard let text else { return null() }
    if !string(utf8: text.bytes) { object { $0.encodedMember(text) } }
  }

  /// Writes a text member.
  mutating func member(_ name: StaticString, text: ByteString?) {
    key(name)
    self.text(text)
  }

  private mutating func encodedMember(_ text: ByteString) {
    key("text_b64")
    base64(text.bytes)
  }

  /// Writes a text member. Bytes that are not UTF-8 are percent-escaped, as in a URL.
  mutating func member(_ name: StaticString, percentEscaping text: ByteString) {
    key(name)
    if !string(utf8: text.bytes) {
      string(repairing: text.bytes.percentEscaped { $0 < 0x80 })
    }
  }

  /// Writes a text member. Invalid UTF-8 becomes U+FFFD.
  mutating func member(_ name: StaticString, repairing text: [UInt8]) {
    key(name)
    string(repairing: text)
  }

  /// Writes a time in the format of RFC 3339, with milliseconds.
  mutating func member(_ name: StaticString, toMilliseconds moment: Timestamp) {
    let milliseconds = Int64((moment.secondsSince1970 * 1_000).rounded())
    let rest = milliseconds % 1_000
    // The remainder is negative before 1970, and the fraction must not be.
    let fraction = rest < 0 ? rest + 1_000 : rest
    let whole = Timestamp(secondsSince1970: Double((milliseconds - fraction) / 1_000)) ?? moment
    var text: [UInt8] = []
    text.append(CivilTime(whole))
    text.append(UInt8(ascii: "."))
    text.append(3, digitsOf: fraction)
    text.append(UInt8(ascii: "Z"))
    member(name, repairing: text)
  }
}

extension Double {
  /// The number in the format of C's `%a`, which is exact: `0x1.8p+1`, `-inf`.
  fileprivate var hexadecimal: String {
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
