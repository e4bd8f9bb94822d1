import Bytes

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
