import Bytes

/// The secrets in a URL, a form, or another short text in which values can be percent-escaped.
enum URLSecretSearch {
  /// Returns the secrets in a text, as written and with escapes decoded. Each is returned once, by the place of the
  /// text as written, or of the escaped value.
  static func matches(in text: [UInt8], now: Timestamp) -> [SecretMatch] {
    var result = SecretScanner.matches(in: text, .fields, now: now).map(decoded)
    guard text.contains(UInt8(ascii: "%")) || text.contains(UInt8(ascii: "+")) else {
      return result
    }
    // A password can contain an escaped `&`, so each value is decoded alone.
    var start = 0
    while start < text.count {
      let end =
        text[start...].firstIndex { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "?") }
        ?? text.count
      defer { start = end + 1 }
      let part = text[start..<end]
      guard part.contains(UInt8(ascii: "%")) || part.contains(UInt8(ascii: "+")) else { continue }
      let equals = part.firstIndex(of: UInt8(ascii: "="))
      let value = part[(equals.map { $0 + 1 } ?? start)...]
      let escaped = value.percentUnescaped(plusIsSpace: true)
      guard !escaped.elementsEqual(value) else { continue }
      for var match in SecretScanner.matches(in: escaped, .fields, now: now) {
        match.offset = Int64(value.startIndex)
        let isKnown = result.contains {
          $0.rule == match.rule && $0.value == match.value
            || $0.offset == match.offset && $0.value.bytes.count >= match.value.bytes.count
              && $0.rule != .apiKey
        }
        guard !isKnown else { continue }
        // What is known only by its name is known better by its format.
        result.removeAll { $0.offset == match.offset && $0.rule == .apiKey }
        result.append(match)
      }
    }
    return result
  }

  /// Returns a match with the escapes of its value decoded, so that a secret is the same here and elsewhere.
  private static func decoded(_ match: SecretMatch) -> SecretMatch {
    // Of a user name and a password, the escaped characters may be those that separate them.
    guard match.value.bytes.contains(UInt8(ascii: "%")), match.rule != .urlCredentials else {
      return match
    }
    var match = match
    match.value = ByteString(match.value.bytes[...].percentUnescaped())
    return match
  }
}
