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
