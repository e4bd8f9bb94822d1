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

  /// The bytes at which the detector looks closer.
  private static let triggers: [Bool] = (0...255).map { (byte: UInt8) in
    if !TokenFormat.byAnchor[Int(byte)].isEmpty { return true }
    switch byte {
    case UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "J"), UInt8(ascii: " "),
      UInt8(ascii: "@"), UInt8(ascii: "-"), UInt8(ascii: ">"):
      return true
    default: return false
    }
  }

  /// Calls `found` with each secret whose decisive byte is in a range, in the order of these bytes.
  func forEachMatch(in range: Range<Int>, _ found: (SecretMatch) -> Void) {
    let (bytes, triggers) = (text.span, Self.triggers.span)
    var place = range.lowerBound
    let end = min(range.upperBound, bytes.count)
    var values = ValueRun()
    while place < end {
      let byte = bytes[place]
      if triggers[Int(byte)] { look(at: place, byte, &values, found) }
      place &+= 1
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

  private func look(
    at place: Int, _ byte: UInt8, _ values: inout ValueRun, _ found: (SecretMatch) -> Void
  ) {
    for format in TokenFormat.byAnchor[Int(byte)] {
      if let range = format.range(in: text, anchoredAt: place), !isPartOfSignedURL(format, range) {
        found(
          SecretMatch(
            format.rule, at: range.lowerBound, text[range], shownPrefix: format.prefix.count))
        return
      }
    }
    switch byte {
    case UInt8(ascii: "="), UInt8(ascii: ":"):
      if byte == UInt8(ascii: ":"), let match = telegramToken(at: place) { return found(match) }
      if byte == UInt8(ascii: "="), context != .fields,
        let match = attributeSecret(at: place) ?? partSecret(at: place)
      {
        return found(match)
      }
      guard hasTellingName(before: place), values.mayRead(at: place),
        let pair = NamedValue(in: text, at: place)
      else { return }
      values.hasRead(upTo: pair.value.upperBound)
      if let match = match(for: pair, at: place) { found(match) }
    case UInt8(ascii: "J"):
      if let match = webToken(at: place - 2) ?? encodedSecret(at: place - 2) { found(match) }
    case UInt8(ascii: " "): if let match = credentials(after: place) { found(match) }
    case UInt8(ascii: "@"): if let match = userInfo(before: place) { found(match) }
    case UInt8(ascii: "-"): if let match = privateKey(at: place) { found(match) }
    case UInt8(ascii: ">") where context != .fields:
      if let match = elementSecret(after: place) { found(match) }
    default: break
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
