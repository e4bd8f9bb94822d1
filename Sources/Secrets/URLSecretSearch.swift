public import Bytes

/// The secrets in a URL, a form, or another short text in which values can be percent-escaped.
public enum URLSecretSearch {
  /// Returns the secrets in a text, as written and with escapes decoded. Each is returned once, by the place of the
  /// text as written, or of the escaped value.
  public static func matches(in text: [UInt8], now: Timestamp) -> [SecretMatch] {
    var result = SecretScanner.matches(in: text, .fields, now: now).map(decoded)
    forEachEscapedValue(in: text) { value, unescaped in
      for var match in SecretScanner.matches(in: unescaped, .fields, now: now) {
        match.offset = Int64(value.lowerBound)
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
