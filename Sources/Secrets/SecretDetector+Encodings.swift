import Bytes

/// Secrets in texts within a text: in the parts of a form, and in JSON that is in Base64.
extension SecretDetector {
  /// The most bytes of the header fields of a part, behind its name.
  private static let longestHead = 512

  /// Returns the secret in a part of a form (RFC 7578 §4.2): `form-data; name="token"`, an empty line, and the value.
  ///
  /// - Parameter separator: The index of the `=` before the name.
  func partSecret(at separator: Int) -> SecretMatch? {
    guard names(["name"], before: separator), let pair = NamedValue(in: text, at: separator),
      pair.isQuoted
    else { return nil }
    var end = pair.name.lowerBound
    while end > 0, text[end - 1].isBlank { end -= 1 }
    guard text[..<end].suffix(10).map(\.asciiLowercased).elementsEqual("form-data;".utf8) else {
      return nil
    }
    var (place, lineEnds) = (pair.value.upperBound, 0)
    let limit = min(text.count, place + Self.longestHead)
    while place < limit, lineEnds < 2 {
      if text[place] == 0x0A { lineEnds += 1 } else if text[place] != 0x0D { lineEnds = 0 }
      place += 1
    }
    let value = text[place...].prefix(SecretMatch.mostBytes).prefix { $0 != 0x0D && $0 != 0x0A }
    return lineEnds == 2 && !value.isEmpty ? markupSecret(pair.value, value.indices) : nil
  }

  /// Returns the Base64 of a JSON object with a credential in it, with the rule that the credential breaks.
  ///
  /// - Parameter start: The index of its `eyJ`, which is the Base64 of `{"` and a letter.
  func encodedSecret(at start: Int) -> SecretMatch? {
    // Each run of Base64 is decoded once at most, so that hostile text costs little.
    guard !isDecoded, start >= 0, text[start...].starts(with: "eyJ".utf8),
      start == 0 || !Self.isOfRun(text[start - 1]) && text[start - 1] != UInt8(ascii: "."),
      !isReportedByName(start)
    else { return nil }
    var run = text[start...].prefix(SecretMatch.mostBytes).prefix(while: Self.isOfRun)
    // A single digit at the end encodes nothing.
    if run.count % 4 == 1 || run.count == SecretMatch.mostBytes {
      run = run.dropLast(run.count % 4)
    }
    let standard = run.map { byte in
      switch byte {
      case UInt8(ascii: "-"): UInt8(ascii: "+")
      case UInt8(ascii: "_"): UInt8(ascii: "/")
      default: byte
      }
    }
    guard run.count >= Randomness.leastBytes, let json = Base64.decode(standard) else { return nil }
    var inner = SecretDetector(text: json, context: .text, now: now)
    inner.isDecoded = true
    var found: SecretMatch?
    inner.forEachMatch(in: json.indices) { match in
      if found == nil, match.rule.isCredential { found = match }
    }
    return found.map {
      SecretMatch($0.rule, at: start, run, shownPrefix: 3, expires: $0.expires, name: $0.name)
    }
  }

  /// Whether the value that begins at an index is a secret because of what is before it.
  private func isReportedByName(_ start: Int) -> Bool {
    if start > 0, text[start - 1] == UInt8(ascii: " "), credentials(after: start - 1) != nil {
      return true
    }
    var separator = start - 1
    while separator > 0, start - separator < 8,
      text[separator].isBlank || "\"'\\".utf8.contains(text[separator])
    {
      separator -= 1
    }
    guard separator > 0,
      text[separator] == UInt8(ascii: "=") || text[separator] == UInt8(ascii: ":"),
      hasTellingName(before: separator), let pair = NamedValue(in: text, at: separator)
    else { return false }
    return match(for: pair, at: separator) != nil
  }

  private static func isOfRun(_ byte: UInt8) -> Bool {
    byte.isOfWord || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
      || byte == UInt8(ascii: "/")
  }
}
