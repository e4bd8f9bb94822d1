import Bytes

/// Credentials as a request sends them, in any field: `Bearer abc` (RFC 9110 §11.4).
public enum Credentials {
  /// Whether a text is credentials of a known scheme, or contains a bearer token.
  ///
  /// A challenge, as in `WWW-Authenticate`, has parameters after its scheme, which are not secret.
  public static func areIn(_ text: ArraySlice<UInt8>) -> Bool {
    (tokenOfWhole(text)?.count ?? 0) >= 6 || hasBearerToken(text)
  }

  /// Whether the value of a header field, or of a property, is credentials of a known scheme, or contains a bearer token.
  ///
  /// Unlike in a URL parameter, which may be a search for two words, a token of `Basic` or `Bearer` can have any length.
  public static func areIn(fieldValue value: ArraySlice<UInt8>) -> Bool {
    if areIn(value) { return true }
    // A user name and a password of one letter each: `Basic YTpi`.
    let scheme = value.drop(while: \.isBlank).prefix { !$0.isBlank }
    return (equals(scheme, "basic") || equals(scheme, "bearer"))
      && tokenOfWhole(value)?.isEmpty == false
  }

  /// Whether a header field of a request is a credential, which may decide what the server answers: because of its name,
  /// as `Cookie` and `X-Api-Key` are, or because its value is credentials or contains a JSON Web Token.
  public static func areIn(
    fieldNamed name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>
  ) -> Bool {
    SecretNames.isSecretHeader(name) || areIn(fieldValue: value) || URLSecrets.hasWebToken(value)
  }

  /// Returns the token of a text that is the name of a scheme and one token; `nil` for other texts.
  private static func tokenOfWhole(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    let text = text.drop(while: \.isBlank)
    let scheme = text.prefix { !$0.isBlank }
    guard schemes.contains(where: { equals(scheme, $0) }) else { return nil }
    let token = text[scheme.endIndex...].drop(while: \.isBlank).prefix { isToken68($0) }
    return text[token.endIndex...].allSatisfy(\.isBlank) ? token : nil
  }

  /// Whether a token follows the word `bearer` anywhere, as in a request that a field quotes.
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
      // It is a parameter of a challenge: realm="…".
      let isParameter = token.last == UInt8(ascii: "=") && rest.first == UInt8(ascii: "\"")
      // A phrase such as "the bearer token" has only short words.
      if token.count >= 12, !isParameter { return true }
    }
    return false
  }

  /// The schemes whose credentials are a single token, in lower case.
  private static let schemes = ["basic", "bearer", "dpop", "negotiate", "ntlm", "token"]

  /// Whether a byte before `bearer` makes it part of another word.
  private static func isWordByte(_ byte: UInt8) -> Bool {
    isToken68(byte) && !"=/+.~".utf8.contains(byte)
  }

  /// Whether a byte is allowed in a `token68`.
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
    // Of all bytes, only the two cases of a letter give that letter when the bit 0x20 is set.
    word.count == scheme.utf8.count && zip(word, scheme.utf8).allSatisfy { $0 | 0x20 == $1 }
  }
}
