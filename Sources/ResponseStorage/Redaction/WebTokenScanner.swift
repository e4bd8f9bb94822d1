/// Finds JSON Web Tokens in a text, wherever a word begins (RFC 7519 §3.1, RFC 7516 §3.1).
///
/// Asked for positions in ascending order it looks at each byte a fixed number of times: in hostile text every third byte
/// can be where a token seems to begin.
struct WebTokenScanner {
  private let text: [UInt8]
  private let limit: Int
  /// Where the bytes of Base64 end that a position is among.
  private var wordEnd: Int
  /// Where these and the dots between them end, and the last of the dots.
  private var runEnd: Int
  private var lastDot: Int?

  /// A header is no shorter than `{"alg":""}`: a file may be called `eyJ.css`.
  private static let shortestHeader = 14

  /// Creates a scanner of a part of a text; what is before the part tells whether a word begins.
  init(_ text: [UInt8], in range: Range<Int>) {
    self.text = text
    limit = range.upperBound
    (wordEnd, runEnd) = (range.lowerBound, range.lowerBound)
  }

  /// Where the token ends that begins at a position, which is not before those that were asked for; `nil` if none does.
  mutating func tokenEnd(at position: Int) -> Int? {
    guard text[position] == UInt8(ascii: "e"), position + 2 < limit,
      text[position + 1] == UInt8(ascii: "y"), text[position + 2] == UInt8(ascii: "J"),
      mayBegin(at: position)
    else { return nil }
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
    // A dot after the header, and another one.
    guard wordEnd < runEnd, wordEnd - position >= Self.shortestHeader, let lastDot,
      lastDot > wordEnd
    else { return nil }
    return runEnd
  }

  /// Whether no letter or figure is before a position, unless as the end of `%2F`.
  private func mayBegin(at position: Int) -> Bool {
    guard position > 0, Self.isTokenByte(text[position - 1]) else { return true }
    if [UInt8(ascii: "_"), UInt8(ascii: "-")].contains(text[position - 1]) { return true }
    return position >= 3 && text[position - 3] == UInt8(ascii: "%")
  }

  /// Whether a byte is one of the Base64 of tokens (RFC 4648 §5).
  static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
