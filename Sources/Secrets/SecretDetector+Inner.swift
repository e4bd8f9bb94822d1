import Bytes

/// Secrets in texts within a text: in the parts of a form, and in what is in Base64.
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

  // MARK: - Base64

  /// The shortest Base64 that is decoded: of 18 bytes, such as `token=` and a value.
  static let shortestEncoded = 24

  /// The bytes at the beginning of Base64 that are decoded to see whether it is that of a text.
  private static let looked = 16

  /// Whether a byte can belong to Base64, or to Base64 for URLs (RFC 4648 §5).
  static let isOfRun: [Bool] = (0...255).map { (byte: UInt8) in
    byte.isOfWord || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
      || byte == UInt8(ascii: "/")
  }

  /// Returns the Base64 of a text with a credential in it, with the rule that the credential breaks.
  ///
  /// The text is JSON, a form, a URL, XML, HTML or a property list. The Base64 is all that is between other bytes, or
  /// what is between slashes, as in the path of a URL.
  ///
  /// - Parameter start: The index at which it begins, after a byte that cannot belong to it.
  func encodedSecret(at start: Int) -> SecretMatch? {
    guard !isDecoded else { return nil }
    let run = text[start...].prefix(SecretMatch.mostBytes).prefix { Self.isOfRun[Int($0)] }
    guard run.count >= Self.shortestEncoded else { return nil }
    let end = run.endIndex
    // The claims of a JSON Web Token belong to it.
    let isOfToken =
      run.starts(with: "eyJ".utf8)
      && (start > 0 && text[start - 1] == UInt8(ascii: ".")
        || end < text.count && text[end] == UInt8(ascii: ".")
          && WebToken(in: text, at: start) != nil)
    if !isOfToken, let match = encodedSecret(in: run) { return match }
    guard run.contains(UInt8(ascii: "/")) else { return nil }
    for part in run.split(separator: UInt8(ascii: "/"))
    where part.startIndex > start && part.count >= Self.shortestEncoded {
      if let match = encodedSecret(in: part) { return match }
    }
    return nil
  }

  private func encodedSecret(in run: ArraySlice<UInt8>) -> SecretMatch? {
    guard let beginning = Base64.decode(url: run.prefix(Self.looked)),
      beginning.starts(with: "bplist00".utf8)
        || beginning.allSatisfy({ $0 >= 0x20 && $0 < 0x7F || $0.isLineBreakOrTab }),
      !isReportedByName(run.startIndex)
    else { return nil }
    // A single digit at the end encodes nothing.
    let whole = run.count % 4 == 1 ? run.dropLast() : run
    guard let text = Base64.decode(url: whole) else { return nil }
    var inner = SecretDetector(
      text: text, context: Self.isFormOrURL(text) ? .fields : .text, now: now)
    inner.isDecoded = true
    var found: SecretMatch?
    inner.forEachMatch(in: text.indices) { match in
      if found == nil, match.rule.isCredential { found = match }
    }
    return found.map {
      SecretMatch(
        $0.rule, at: run.startIndex, whole, shownPrefix: 3, expires: $0.expires, name: $0.name)
    }
  }

  /// Whether a decoded text is a form or a URL, in which names mean what they say.
  private static func isFormOrURL(_ text: [UInt8]) -> Bool {
    text.first?.isOfWord == true && text.contains(UInt8(ascii: "="))
      && text.allSatisfy { $0 > 0x20 && $0 < 0x7F }
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
}

extension UInt8 {
  fileprivate var isLineBreakOrTab: Bool { self == 0x0A || self == 0x0D || self == 0x09 }
}
