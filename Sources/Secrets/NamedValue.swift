import Bytes

/// A name and its value in a text: `"name": "value"`, `name=value`.
struct NamedValue {
  /// Where the name is.
  let name: Range<Int>
  /// Where the value is, without quotation marks.
  let value: Range<Int>
  /// Whether the value is in quotation marks.
  let isQuoted: Bool
  /// Whether the name is in quotation marks, as in JSON.
  let hasQuotedName: Bool

  /// Creates a name and its value.
  init(name: Range<Int>, value: Range<Int>, isQuoted: Bool, hasQuotedName: Bool) {
    (self.name, self.value) = (name, value)
    (self.isQuoted, self.hasQuotedName) = (isQuoted, hasQuotedName)
  }

  /// Finds the name before a separator and the value after it; `nil` if there is none.
  init?(in text: [UInt8], at separator: Int) {
    guard let (name, hasQuotedName) = Self.name(in: text, before: separator) else { return nil }
    guard let (value, isQuoted) = Self.value(in: text, after: separator) else { return nil }
    (self.name, self.hasQuotedName, self.value, self.isQuoted) =
      (name, hasQuotedName, value, isQuoted)
  }

  /// Returns the range of the name before a separator, and whether it is in quotation marks.
  static func name(
    in text: [UInt8], before separator: Int
  ) -> (range: Range<Int>, isQuoted: Bool)? {
    var end = separator
    let first = max(0, separator - TellingName.longest - 8)
    while end > first, text[end - 1].isBlank { end -= 1 }
    let isQuoted = end > first && isQuote(text[end - 1])
    if isQuoted {
      end -= 1
      // In JSON within a string of JSON, a backslash stands before each quotation mark.
      while end > first, text[end - 1] == backslash { end -= 1 }
    } else if end > first, text[end - 1] == UInt8(ascii: "]") {
      // The index of an array in a form: `token[0]`.
      end = text[first..<end].lastIndex(of: UInt8(ascii: "[")) ?? end
    }
    guard end > first, TellingName.mayEnd(with: text[end - 1]) || text[end - 1].isASCIIDigit
    else { return nil }
    var start = end
    while start > first, isOfName(text[start - 1]) { start -= 1 }
    return start < end && end - start <= TellingName.longest ? (start..<end, isQuoted) : nil
  }

  private static func value(in text: [UInt8], after separator: Int) -> (Range<Int>, Bool)? {
    var start = separator + 1
    while start < text.count, text[start].isBlank { start += 1 }
    let beforeQuote = start
    while start < text.count, text[start] == backslash { start += 1 }
    guard start < text.count else { return nil }
    let limit = min(text.count, start + SecretMatch.mostBytes + 1)
    if isQuote(text[start]) {
      let quote = text[start]
      let isNested = start > beforeQuote
      start += 1
      var end = start
      while end < limit, text[end] != quote {
        if isNested, text[end] == backslash { break }
        end += text[end] == backslash ? 2 : 1
      }
      return (start..<min(end, limit), true)
    }
    var end = start
    while end < limit, !isDelimiter(text[end]) { end += 1 }
    return (start..<end, false)
  }

  private static let backslash = UInt8(ascii: "\\")

  private static func isQuote(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    byte.isOfWord || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
  }

  /// Whether a byte ends a value without quotation marks.
  static func isDelimiter(_ byte: UInt8) -> Bool {
    if byte <= 0x20 || byte >= 0x7F { return true }
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "<"), UInt8(ascii: ">"),
      UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "&"), UInt8(ascii: "("),
      UInt8(ascii: ")"), UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["),
      UInt8(ascii: "]"), UInt8(ascii: "\\"), UInt8(ascii: "#"):
      return true
    default: return false
    }
  }
}
