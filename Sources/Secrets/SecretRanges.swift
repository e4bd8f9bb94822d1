import Bytes

/// Finds the parts of a text that are secret, so that the rest can be shown.
///
/// Secrets are found as in URLs and header fields, and also by the names before them: `"password": "…"`, `token=…`.
public enum SecretRanges {
  /// The longest name before a value, in bytes.
  private static let longestName = 64

  /// Returns the ranges of secrets in a text, in ascending order and without overlaps.
  ///
  /// - Parameters:
  ///   - hasStart: Whether the text begins here. Otherwise the first word is secret, because it may be the end of one.
  ///   - hasEnd: Whether the text ends here. Otherwise the last word is secret.
  public static func of(_ text: [UInt8], hasStart: Bool = true, hasEnd: Bool = true) -> [Range<Int>]
  {
    var ranges: [Range<Int>] = []
    if !hasStart { ranges.append(0..<(text.firstIndex(where: isDelimiter) ?? text.count)) }
    if !hasEnd {
      ranges.append((text.lastIndex(where: isDelimiter).map { $0 + 1 } ?? 0)..<text.count)
    }
    _ = URLSecrets().replacing(in: ByteString(text), as: .text) { secret in
      switch secret {
      case .userInformation(let part), .value(let part): ranges.append(part.indices)
      }
      return nil
    }
    ranges += namedValues(in: text)
    ranges += SecretDetector.credentials(in: text, .text)
    appendCredentials(of: text, to: &ranges)
    return merged(ranges)
  }

  /// Returns ranges in ascending order, without overlaps and empty ones.
  public static func merged(_ ranges: [Range<Int>]) -> [Range<Int>] {
    var result: [Range<Int>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
      if let last = result.last, range.lowerBound <= last.upperBound {
        result[result.count - 1] =
          last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        result.append(range)
      }
    }
    return result
  }

  /// Returns the values of members and parameters whose names are those of secrets.
  static func namedValues(in text: [UInt8]) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    // The end of the word at the last value. In `token=token=…` without end, it would be looked for again and again.
    var wordEnd = 0
    for place in text.indices where text[place] == colon || text[place] == equals {
      guard let name = name(before: place, in: text) else { continue }
      guard SecretNames.isSecretParameter(Array(text[name])) else { continue }
      if let value = value(after: place, in: text, &wordEnd) { ranges.append(value) }
    }
    return ranges
  }

  /// Returns the range of the name before a separator; `nil` if there is none.
  private static func name(before separator: Int, in text: [UInt8]) -> Range<Int>? {
    var end = separator
    while end > 0, text[end - 1].isBlank { end -= 1 }
    // In a string of JSON within JSON, the quotation marks are escaped.
    if end > 0, isQuote(text[end - 1]) { end -= 1 }
    if end > 0, text[end - 1] == backslash { end -= 1 }
    var start = end
    while start > 0, end - start < longestName, isOfName(text[start - 1]) { start -= 1 }
    return start < end ? start..<end : nil
  }

  /// Returns the range of the value after a separator; `nil` if there is none.
  ///
  /// - Parameter wordEnd: The end of the word at the last value without quotation marks.
  private static func value(
    after separator: Int, in text: [UInt8], _ wordEnd: inout Int
  ) -> Range<Int>? {
    var start = separator + 1
    while start < text.count, text[start].isBlank || text[start] == backslash { start += 1 }
    guard start < text.count else { return nil }
    if isQuote(text[start]) {
      let quote = text[start]
      // In a string within a string, a backslash stands before both quotation marks.
      let isNested = text[start - 1] == backslash
      start += 1
      var end = start
      while end < text.count, text[end] != quote {
        if isNested, text[end] == backslash, end + 1 < text.count, text[end + 1] == quote { break }
        end += text[end] == backslash ? 2 : 1
      }
      end = min(end, text.count)
      return start..<end
    }
    if start >= wordEnd { wordEnd = text[start...].firstIndex(where: isDelimiter) ?? text.count }
    return start..<wordEnd
  }

  /// Appends the tokens after the names of schemes: `Bearer …`.
  private static func appendCredentials(of text: [UInt8], to ranges: inout [Range<Int>]) {
    for scheme in ["bearer ", "basic "] {
      let name = Array(scheme.utf8)
      var place = 0
      while place + name.count < text.count {
        defer { place += 1 }
        guard text[place] | 0x20 == name[0],
          zip(text[place...], name).allSatisfy({ $0 | 0x20 == $1 })
        else { continue }
        let start = place + name.count
        let end = text[start...].firstIndex { !isOfToken($0) } ?? text.count
        // A phrase such as "the bearer token" has only short words, and "basic understanding" only small letters.
        let token = text[start..<end]
        let looksRandom = token.contains { !(0x61...0x7A).contains($0) }
        if token.count >= 12, looksRandom { ranges.append(start..<end) }
      }
    }
  }

  private static let (colon, equals) = (UInt8(ascii: ":"), UInt8(ascii: "="))
  private static let backslash = UInt8(ascii: "\\")

  private static func isQuote(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    byte.isASCIILetter || byte.isASCIIDigit || byte == UInt8(ascii: "_")
      || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
  }

  private static func isOfToken(_ byte: UInt8) -> Bool {
    byte.isASCIILetter || byte.isASCIIDigit || "-._~+/=".utf8.contains(byte)
  }

  /// Whether a byte ends a word or a value without quotation marks.
  private static func isDelimiter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0...0x20, UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "<"), UInt8(ascii: ">"),
      UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "&"), UInt8(ascii: "?"),
      UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "{"), UInt8(ascii: "}"),
      UInt8(ascii: "["), UInt8(ascii: "]"), backslash:
      true
    default: false
    }
  }
}
