import Bytes

extension SecretDetector {
  /// Reads the token after the name of a scheme and a space: `Bearer …`.
  func credentials(after space: Int) -> SecretMatch? {
    guard space >= 5 else { return nil }
    let isBearer = hasWord("bearer", before: space)
    guard isBearer || hasWord("basic", before: space) else { return nil }
    let start = space + 1
    let limit = min(text.count, start + SecretMatch.mostBytes)
    var end = start
    while end < limit, Self.isToken68(text[end]) { end += 1 }
    return isBearer ? bearer(start..<end) : basic(start..<end)
  }

  private func hasWord(_ word: StaticString, before end: Int) -> Bool {
    let count = word.utf8CodeUnitCount
    let start = end - count
    guard start >= 0, start == 0 || !text[start - 1].isOfWord else { return false }
    return zip(text[start..<end], word.description.utf8).allSatisfy { $0 | 0x20 == $1 }
  }

  /// Returns the token of a bearer, unless it has a format of its own.
  func bearer(_ range: Range<Int>) -> SecretMatch? {
    guard range.count >= 16, !hasKnownFormat(range) else { return nil }
    let value = text[range]
    // A challenge has parameters, and prose has words.
    guard
      Randomness.looksRandom(value) || context == .fields && value.contains(where: \.isASCIIDigit),
      !Randomness.isPlaceholder(value)
    else { return nil }
    return SecretMatch(.bearerToken, at: range.lowerBound, value)
  }

  /// Returns the credentials of Basic authentication, if they are `name:password` in Base64.
  func basic(_ range: Range<Int>) -> SecretMatch? {
    guard range.count >= 4, range.count <= 1_024, let decoded = Base64.decode(Array(text[range])),
      let colon = decoded.firstIndex(of: UInt8(ascii: ":")),
      decoded.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }), decoded.count >= 3,
      !Randomness.isPlaceholder(decoded[(colon + 1)...]) || context == .fields
    else { return nil }
    return SecretMatch(.basicAuth, at: range.lowerBound, text[range])
  }

  /// Reads `user:password@` before an index, after `//`.
  func userInfo(before at: Int) -> SecretMatch? {
    var start = at
    var colon: Int?
    let least = max(0, at - 256)
    while start > least {
      let byte = text[start - 1]
      if byte == UInt8(ascii: "/") { break }
      // An authority ends with a `?` (RFC 3986 §3.2).
      if byte == UInt8(ascii: "@") || byte == UInt8(ascii: "?") { return nil }
      if byte == UInt8(ascii: ":") { colon = start - 1 }
      if NamedValue.isDelimiter(byte), byte != UInt8(ascii: "&") { return nil }
      start -= 1
    }
    guard start >= 2, text[start - 1] == UInt8(ascii: "/"), text[start - 2] == UInt8(ascii: "/"),
      let colon, colon > start, at - colon > 1, at + 1 < text.count,
      text[at + 1].isASCIILetter || text[at + 1].isASCIIDigit || text[at + 1] == UInt8(ascii: "[")
    else { return nil }
    let password = text[(colon + 1)..<at]
    guard !Randomness.isPlaceholder(password), !isPortAndPath(password) else { return nil }
    // In a page, `https://user:pass@host` is nearly always an example.
    if context == .script, !password.contains(where: \.isASCIIDigit) { return nil }
    return SecretMatch(.urlCredentials, at: start, text[start..<at])
  }

  /// Whether text after a colon is the port of a host: `//host:8080`, followed by an `@` of something else.
  private func isPortAndPath(_ text: ArraySlice<UInt8>) -> Bool {
    text.count <= 5 && text.allSatisfy(\.isASCIIDigit)
  }

  /// Whether a token with a format of its own begins in a range. It is then found by its format.
  func hasKnownFormat(_ range: Range<Int>) -> Bool {
    for place in range.prefix(SecretMatch.mostBytes) {
      for format in TokenFormat.byAnchor[Int(text[place])] {
        if let found = format.range(in: text, anchoredAt: place), range.contains(found.lowerBound) {
          return true
        }
      }
      guard text[place] == UInt8(ascii: "e") else { continue }
      if text[place...].starts(with: "eyJ".utf8), WebToken(in: text, at: place) != nil {
        return true
      }
    }
    return false
  }

  private static func isToken68(_ byte: UInt8) -> Bool {
    byte.isOfWord || "-._~+/=".utf8.contains(byte)
  }
}
