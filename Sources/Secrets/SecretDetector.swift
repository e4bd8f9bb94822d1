import Bytes

/// Finds the secrets in a text.
///
/// One pass looks at each byte once. Only at a byte that can belong to a secret, such as the `_` of `ghp_` or the `=` after a
/// name, the bytes around it are compared.
public struct SecretDetector {
  /// What a text is, which decides how sure a find must be.
  public enum Context: Hashable, Sendable {
    /// A URL, a form, or the value of a header field: names mean what they say.
    case fields
    /// JSON, plain text, or bytes of any kind.
    case text
    /// Programs and pages, in which most names belong to variables and forms.
    case script
  }

  /// The text.
  let text: [UInt8]

  /// What the text is.
  let context: Context

  /// The time with which expiries are compared, in seconds since 1970.
  let now: Int64

  /// Whether the text was decoded from another one, in which it is looked for once.
  var isDecoded = false

  /// What a byte is to the detector: it looks closer (1) at those that can belong to a secret, and at Base64 (2) that follows a
  /// byte that cannot belong to it.
  private static let triggers: [UInt8] = (0...255).map { (byte: UInt8) in
    let precedes: UInt8 = byte < 0x7F && !isOfRun[Int(byte)] ? 2 : 0
    if !TokenFormat.byAnchor[Int(byte)].isEmpty { return precedes | 1 }
    switch byte {
    case UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "J"), UInt8(ascii: " "),
      UInt8(ascii: "@"), UInt8(ascii: "-"), UInt8(ascii: ">"):
      return precedes | 1
    default: return precedes
    }
  }

  /// Calls `found` with each secret whose decisive byte is in a range, in the order of these bytes.
  func forEachMatch(in range: Range<Int>, _ found: (SecretMatch) -> Void) {
    let (bytes, triggers, isOfRun) = (text.span, Self.triggers.span, Self.isOfRun.span)
    var place = range.lowerBound
    let end = min(range.upperBound, bytes.count)
    var values = ValueRun()
    if place == 0, let match = encodedSecret(at: 0) { found(match) }
    while place < end {
      defer { place &+= 1 }
      let trigger = triggers[Int(bytes[place])]
      if trigger == 0 { continue }
      if trigger & 1 != 0, let match = secret(at: place, bytes[place], &values) {
        found(match)
        continue
      }
      // Base64 is looked at once, from its beginning. Most text is none, which its last bytes show soonest.
      guard trigger & 2 != 0, place &+ Self.shortestEncoded < bytes.count else { continue }
      var last = place &+ Self.shortestEncoded
      while isOfRun[Int(bytes[last])] { last &-= 1 }
      if last == place, let match = encodedSecret(at: place &+ 1) { found(match) }
    }
  }

  /// The text without a delimiter that was last read as a value.
  ///
  /// In `pwd=pwd=pwd=…`, a value begins after each name, and ends where the others end. Only some are read, so that
  /// hostile text costs little.
  private struct ValueRun {
    private var end = 0
    private var count = 0
    private static let most = 16

    /// Whether to read the value after a separator.
    mutating func mayRead(at place: Int) -> Bool {
      count = place < end ? count + 1 : 0
      return count < Self.most
    }

    mutating func hasRead(upTo end: Int) { self.end = max(end, self.end) }
  }

  /// Returns the secret of which a byte is the decisive one; `nil` if there is none.
  private func secret(at place: Int, _ byte: UInt8, _ values: inout ValueRun) -> SecretMatch? {
    for format in TokenFormat.byAnchor[Int(byte)] {
      if let range = format.range(in: text, anchoredAt: place), !isPartOfSignedURL(format, range) {
        return SecretMatch(
          format.rule, at: range.lowerBound, text[range], shownPrefix: format.prefix.count)
      }
    }
    switch byte {
    case UInt8(ascii: "="), UInt8(ascii: ":"):
      if byte == UInt8(ascii: ":"), let match = telegramToken(at: place) { return match }
      if byte == UInt8(ascii: "="), context != .fields,
        let match = attributeSecret(at: place) ?? partSecret(at: place)
      {
        return match
      }
      guard hasTellingName(before: place), values.mayRead(at: place),
        let pair = NamedValue(in: text, at: place)
      else { return nil }
      values.hasRead(upTo: pair.value.upperBound)
      return match(for: pair, at: place)
    case UInt8(ascii: "J"): return webToken(at: place - 2)
    case UInt8(ascii: " "): return credentials(after: place)
    case UInt8(ascii: "@"): return userInfo(before: place)
    case UInt8(ascii: "-"): return privateKey(at: place)
    case UInt8(ascii: ">"): return context != .fields ? elementSecret(after: place) : nil
    default: return nil
    }
  }

  // MARK: - Formats

  /// The id of a key in a signed URL is reported with the URL.
  private func isPartOfSignedURL(_ format: TokenFormat, _ range: Range<Int>) -> Bool {
    guard format.rule == .awsKeyID else { return false }
    let before = text[max(0, range.lowerBound - 16)..<range.lowerBound].map(\.asciiLowercased)
    return [Array("credential=".utf8), Array("accesskeyid=".utf8)].contains {
      before.suffix($0.count).elementsEqual($0)
    }
  }

  private func webToken(at start: Int) -> SecretMatch? {
    // The Base64 of `{"` and a letter begins with `eyJ`.
    guard start >= 0, text[start] == UInt8(ascii: "e"), text[start + 1] == UInt8(ascii: "y"),
      let token = WebToken(in: text, at: start)
    else { return nil }
    let isOver = token.expires.map { $0 <= now } ?? false
    return SecretMatch(
      isOver ? .expiredJWT : .jwt, at: start, text[token.range], shownPrefix: 3,
      expires: token.expires)
  }

  /// Reads the token of a bot: a number, a colon, and 35 characters of Base64url.
  private func telegramToken(at colon: Int) -> SecretMatch? {
    guard colon >= 8, text.count - colon > 35, text[colon + 1] == UInt8(ascii: "A") else {
      return nil
    }
    var start = colon
    while start > 0, colon - start < 11, text[start - 1].isASCIIDigit { start -= 1 }
    guard (8...10).contains(colon - start), start == 0 || !text[start - 1].isOfWord else {
      return nil
    }
    let end = colon + 36
    guard text[(colon + 1)..<end].allSatisfy({ $0.isOfWord || $0 == UInt8(ascii: "-") }),
      end == text.count || !text[end].isOfWord,
      Randomness.hasDifferentBytes(text[(colon + 1)..<end], 10)
    else { return nil }
    return SecretMatch(.telegram, at: start, text[start..<end])
  }

  /// Reads the private key of which the first `-` is at an index.
  private func privateKey(at start: Int) -> SecretMatch? {
    guard start + 40 < text.count, start == 0 || text[start - 1] != UInt8(ascii: "-"),
      text[start...].starts(with: "-----BEGIN ".utf8)
    else { return nil }
    let rest = text[(start + 11)...].prefix(40)
    let label = rest.prefix { $0 != UInt8(ascii: "-") }
    guard
      label.elementsEqual("PRIVATE KEY".utf8) || label.ends(with: " PRIVATE KEY")
        || label.ends(with: "PRIVATE KEY BLOCK")
    else { return nil }
    let (first, most) = (label.endIndex, min(text.count, start + SecretMatch.mostBytes))
    guard text[first...].starts(with: "-----".utf8) else { return nil }
    var (end, count) = (first + 5, 0)
    while end < most, text[end] != UInt8(ascii: "-") {
      if text[end].isASCIILetter || text[end].isASCIIDigit { count += 1 }
      end += 1
    }
    // A page about keys has only the first line, or an ellipsis.
    guard count >= 40 else { return nil }
    return SecretMatch(.privateKey, at: start, text[start..<end], shownPrefix: first + 5 - start)
  }
}

extension ArraySlice<UInt8> {
  /// Whether the bytes end with a text.
  fileprivate func ends(with word: StaticString) -> Bool {
    reversed().starts(with: word.description.utf8.reversed())
  }
}

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

extension SecretDetector {
  /// Returns where the credentials are that an audit finds in a short text, in ascending order and without overlaps.
  ///
  /// What is hidden is found by the same search, so that no output shows what an audit reports. A value whose percent escapes
  /// hide a credential is one place.
  static func credentials(in text: [UInt8], _ context: Context) -> [Range<Int>] {
    var places: [Range<Int>] = []
    SecretDetector(text: text, context: context, now: 0).forEachMatch(in: text.indices) { match in
      if let place = place(of: match, in: text) { places.append(place) }
    }
    guard context == .fields else { return SecretRanges.merged(places) }
    URLSecretSearch.forEachEscapedValue(in: text) { value, unescaped in
      let isWhole = value.lowerBound == 0 || text[value.lowerBound - 1] != UInt8(ascii: "=")
      var hasCredential = false
      SecretDetector(text: unescaped, context: context, now: 0)
        .forEachMatch(in: unescaped.indices) { match in
          // In a path, JSON Web Tokens are found as they are written.
          if match.rule.isCredential, !isWhole || match.rule != .jwt && match.rule != .expiredJWT {
            hasCredential = true
          }
        }
      guard hasCredential else { return }
      // Of a path, its last part.
      let slash = isWhole ? text[value].lastIndex(of: UInt8(ascii: "/")) : nil
      places.append((slash.map { $0 + 1 } ?? value.lowerBound)..<value.upperBound)
    }
    return SecretRanges.merged(places)
  }

  /// Returns where a credential is; `nil` for personal data.
  private static func place(of match: SecretMatch, in text: [UInt8]) -> Range<Int>? {
    guard match.rule.isCredential else { return nil }
    var (start, end) = (Int(match.offset), Int(match.offset) + match.value.bytes.count)
    // The host of a webhook is no secret, and a URL without it would be none.
    if match.rule == .slackWebhook || match.rule == .discordWebhook { start += match.shownPrefix }
    // What is longer than a match keeps of it.
    if match.value.bytes.count == SecretMatch.mostBytes {
      while end < text.count, text[end].isOfToken { end += 1 }
    }
    return start..<end
  }
}

extension URLSecretSearch {
  /// Calls `body` with each part of a text between `&` and `?`, or what follows the `=` in it, that changes when its escapes are
  /// decoded: where it is, and the decoded bytes. A password can contain an escaped `&`, so each value is decoded alone.
  static func forEachEscapedValue(
    in text: [UInt8], _ body: (_ value: Range<Int>, _ unescaped: [UInt8]) -> Void
  ) {
    guard text.contains(where: isEscape) else { return }
    var start = 0
    while start < text.count {
      let end =
        text[start...].firstIndex { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "?") }
        ?? text.count
      defer { start = end + 1 }
      let part = text[start..<end]
      guard part.contains(where: isEscape) else { continue }
      let equals = part.firstIndex(of: UInt8(ascii: "="))
      let value = part[(equals.map { $0 + 1 } ?? start)...]
      let unescaped = value.percentUnescaped(plusIsSpace: true)
      if !unescaped.elementsEqual(value) { body(value.indices, unescaped) }
    }
  }

  private static func isEscape(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "%") || byte == UInt8(ascii: "+")
  }
}
