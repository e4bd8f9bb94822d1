import Bytes

/// Credentials as a request sends them, in whatever field: `Bearer abc` (RFC 9110 §11.4).
public enum Credentials {
  /// Whether a text is credentials of a known scheme, or has a bearer token in it.
  ///
  /// A challenge, as of `WWW-Authenticate`, has parameters after its scheme, which are no secret.
  public static func areIn(_ text: ArraySlice<UInt8>) -> Bool {
    isWhole(text) || hasBearerToken(text)
  }

  /// Whether a text is the name of a scheme and one token, which a sentence of two words can be too:
  /// a token has at least six bytes.
  private static func isWhole(_ text: ArraySlice<UInt8>) -> Bool {
    let text = text.drop(while: \.isBlank)
    let scheme = text.prefix { !$0.isBlank }
    guard schemes.contains(where: { equals(scheme, $0) }) else { return false }
    let token = text[scheme.endIndex...].drop(while: \.isBlank).prefix { isToken68($0) }
    return token.count >= 6 && text[token.endIndex...].allSatisfy(\.isBlank)
  }

  /// Whether a token follows the word `bearer` somewhere, as in a request that a field quotes.
  private static func hasBearerToken(_ text: ArraySlice<UInt8>) -> Bool {
    let scheme = "bearer"
    var rest = text
    while let start = rest.firstIndex(where: { $0 | 0x20 == UInt8(ascii: "b") }) {
      rest = text[(start + 1)...]
      if start > text.startIndex, isWordByte(text[start - 1]) { continue }
      let word = text[start...].prefix(scheme.utf8.count)
      guard equals(word, scheme), let next = text[word.endIndex...].first, next.isBlank else {
        continue
      }
      let token = text[word.endIndex...].drop(while: \.isBlank).prefix { isToken68($0) }
      rest = text[token.endIndex...]
      // A parameter of a challenge: realm="…".
      let isParameter = token.last == UInt8(ascii: "=") && rest.first == UInt8(ascii: "\"")
      // The words of a sentence are short: "the bearer token".
      if token.count >= 12, !isParameter { return true }
    }
    return false
  }

  /// The schemes whose credentials are one token, in small letters.
  private static let schemes = ["basic", "bearer", "dpop", "negotiate", "ntlm", "token"]

  /// Whether a byte before `bearer` makes another word of it.
  private static func isWordByte(_ byte: UInt8) -> Bool {
    isToken68(byte) && !"=/+.~".utf8.contains(byte)
  }

  /// Whether a byte is one of a `token68`.
  private static func isToken68(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "/"),
      UInt8(ascii: "="):
      true
    default: false
    }
  }

  private static func equals(_ word: ArraySlice<UInt8>, _ scheme: String) -> Bool {
    word.count == scheme.utf8.count && zip(word, scheme.utf8).allSatisfy { $0 | 0x20 == $1 }
  }
}
