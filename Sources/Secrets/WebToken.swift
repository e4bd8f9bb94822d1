import Bytes

/// A JSON Web Token, as far as an audit needs it (RFC 7519).
struct WebToken {
  /// The place of the token in its text.
  let range: Range<Int>

  /// The time at which it expires, in seconds since 1970; `nil` if it has none.
  let expires: Int64?

  /// The longest header, in Base64.
  private static let longestHeader = 2_048

  /// Reads the token that begins at an index; `nil` if there is none, or its header is not JSON with `alg`.
  init?(in text: [UInt8], at start: Int) {
    if start > 0, text[start - 1].isOfWord || text[start - 1] == UInt8(ascii: "-") { return nil }
    let header = Self.part(of: text, at: start, most: Self.longestHeader)
    guard header.count >= 14, header.upperBound < text.count, text[header.upperBound] == Self.dot,
      let json = Self.decode(text[header]), Self.value(of: "alg", in: json) != nil
    else { return nil }
    let payload = Self.part(
      of: text, at: header.upperBound + 1, most: SecretMatch.mostBytes - header.count)
    var end = payload.upperBound
    // A token that is longer than what is kept counts as a token, without a look at its claims.
    let isCut = end - start >= SecretMatch.mostBytes
    guard isCut || end < text.count && text[end] == Self.dot else { return nil }
    // An encrypted token has five parts, and its second one can be empty (RFC 7516 §3.1). The header and the payload have
    // been read.
    for _ in 2..<5 where end < text.count && text[end] == Self.dot {
      end = Self.part(of: text, at: end + 1, most: SecretMatch.mostBytes - (end - start)).upperBound
    }
    while end > start, text[end - 1] == Self.dot { end -= 1 }
    range = start..<end
    expires = Self.decode(text[payload]).flatMap { Self.value(of: "exp", in: $0) }.flatMap(
      Self.number)
  }

  private static let dot = UInt8(ascii: ".")

  private static func part(of text: [UInt8], at start: Int, most: Int) -> Range<Int> {
    var end = start
    let limit = min(text.count, start + max(0, most))
    while end < limit, text[end].isOfWord || text[end] == UInt8(ascii: "-") { end += 1 }
    return start..<end
  }

  /// Decodes Base64url (RFC 4648 §5).
  private static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard let json = Base64.decode(url: text), json.first == UInt8(ascii: "{") else { return nil }
    return json
  }

  /// Returns the text after the name of a member, which need not be at the top: an audit asks only whether it is there.
  private static func value(of name: String, in json: [UInt8]) -> ArraySlice<UInt8>? {
    let wanted = Array("\"\(name)\"".utf8)
    guard json.count > wanted.count else { return nil }
    for start in 0..<json.count - wanted.count where json[start] == wanted[0] {
      guard json[start..<start + wanted.count].elementsEqual(wanted) else { continue }
      let rest = json[(start + wanted.count)...].drop { $0 <= 0x20 }
      if rest.first == UInt8(ascii: ":") { return rest.dropFirst().drop { $0 <= 0x20 } }
    }
    return nil
  }

  private static func number(_ text: ArraySlice<UInt8>) -> Int64? {
    Int64(String(decoding: Array(text.prefix { $0.isASCIIDigit }.prefix(18)), as: UTF8.self))
  }
}

/// A scanner for JSON Web Tokens at the beginning of words (RFC 7519 §3.1, RFC 7516 §3.1).
///
/// For ascending positions, it reads each byte a fixed number of times. This keeps it linear for hostile text, in
/// which a token may seem to begin at every third byte.
struct WebTokenScanner {
  private let text: [UInt8]
  private let limit: Int
  /// The end of the Base64 bytes around the current position.
  private var wordEnd: Int
  /// The end of the run of Base64 bytes and dots, and the last dot in it.
  private var runEnd: Int
  private var lastDot: Int?

  /// The length of the shortest header, `{"alg":""}`, which excludes file names such as `eyJ.css`.
  private static let shortestHeader = 14

  /// Creates a scanner for a part of a text. The bytes before it show whether a word begins.
  init(_ text: [UInt8], in range: Range<Int>) {
    self.text = text
    limit = range.upperBound
    (wordEnd, runEnd) = (range.lowerBound, range.lowerBound)
  }

  /// Returns the end of the token at a position, or `nil` if there is none. Positions must not decrease.
  mutating func tokenEnd(at position: Int) -> Int? {
    // The header of a token is a JSON object, and the Base64 of `{"` and a letter begins with
    // `eyJ`.
    guard text[position] == UInt8(ascii: "e"), position + 2 < limit,
      text[position + 1] == UInt8(ascii: "y"), text[position + 2] == UInt8(ascii: "J"),
      mayBegin(at: position)
    else { return nil }
    // A word is scanned once. Of a text such as `eyJeyJeyJ…`, each beginning would otherwise be
    // followed to the end.
    if wordEnd <= position {
      wordEnd = position
      while wordEnd < limit, Self.isTokenByte(text[wordEnd]) { wordEnd += 1 }
    }
    if runEnd <= position {
      (runEnd, lastDot) = (wordEnd, nil)
      while runEnd < limit, text[runEnd] == UInt8(ascii: ".") || Self.isTokenByte(text[runEnd]) {
        if text[runEnd] == UInt8(ascii: ".") { lastDot = runEnd }
        runEnd += 1
      }
    }
    // A token has a dot after the header, and another one.
    guard wordEnd < runEnd, wordEnd - position >= Self.shortestHeader, let lastDot,
      lastDot > wordEnd
    else { return nil }
    return runEnd
  }

  /// Whether a word may begin: after no letter or digit, except at the end of an escape such as `%2F`.
  private func mayBegin(at position: Int) -> Bool {
    guard position > 0, Self.isTokenByte(text[position - 1]) else { return true }
    if [UInt8(ascii: "_"), UInt8(ascii: "-")].contains(text[position - 1]) { return true }
    // The two bytes before are then hexadecimal digits, which look like letters of a word.
    return position >= 3 && text[position - 3] == UInt8(ascii: "%")
  }

  /// Whether a byte is in the Base64 alphabet of tokens (RFC 4648 §5).
  static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
