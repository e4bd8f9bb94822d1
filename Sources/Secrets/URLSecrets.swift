public import Bytes

/// A search for secrets in URLs and in text with URLs: user information, and the values of parameters that
/// look like tokens.
///
/// Lists and archives both use it, so that they always agree on what is secret.
public struct URLSecrets: Hashable, Sendable {
  /// The names of further parameters whose values are secret, percent-decoded and in lower case.
  public var parameterNames: Set<ByteString>

  /// Whether values that look like tokens are secret, judging by the name of the parameter or by their form.
  public var includesTokens: Bool

  /// Creates a search for user information and tokens.
  public init(parameterNames: Set<ByteString> = [], includesTokens: Bool = true) {
    self.parameterNames = parameterNames
    self.includesTokens = includesTokens
  }

  /// The form of a text.
  public enum Form: Hashable, Sendable {
    /// A URL as a whole.
    case url
    /// Text that may contain URLs, between `<` and `>`, or between quotation marks, like a header field.
    case text
  }

  /// A secret that was found.
  public enum Secret {
    /// The text between `//` and the last `@` of an authority.
    case userInformation(ArraySlice<UInt8>)
    /// The value of a parameter, as written.
    case value(ArraySlice<UInt8>)
  }

  /// The depth to which URLs within URLs are searched, which bounds the work for hostile nesting.
  private static let nestingLimit = 3

  /// Returns the text with each secret replaced; all other bytes are unchanged.
  ///
  /// Parameters are found in the query, in the fragment, and after a `;` in the path; JSON Web Tokens at the
  /// beginning of any word.
  ///
  /// - Parameter replacement: Returns the replacement of a secret; `nil` removes user information with its
  ///   `@`, and leaves a value empty.
  public func replacing(
    in text: ByteString, as form: Form = .url, by replacement: (Secret) -> ByteString?
  ) -> ByteString {
    replaced(text.bytes, form, depth: 0, replacement).map { ByteString($0) } ?? text
  }

  /// Returns the text with secrets replaced, or `nil` if it cannot contain any.
  private func replaced(
    _ text: [UInt8], _ form: Form, depth: Int, _ replacement: (Secret) -> ByteString?
  ) -> [UInt8]? {
    let credentials = includesTokens ? SecretDetector.credentials(in: text, .fields) : []
    // Most texts end here, without a copy.
    guard !credentials.isEmpty || mayHoldSecret(text) else { return nil }
    var rest = credentials[...]
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var position = 0
    // Whether a parameter may begin at `position`, the part of the URL there, and the byte that ends the URL.
    var mayBegin = false
    var part = Part.path
    var closer: UInt8?
    // The end of the last value. Values before it are searched only once, however many `;` they have.
    var valueEnd = 0
    var scanner = WebTokenScanner(text, in: text.indices)
    while position < text.count {
      // The rest of a credential of which the beginning was in another secret goes with that.
      while let first = rest.first, first.lowerBound < position {
        position = max(position, first.upperBound)
        rest.removeFirst()
      }
      guard position < text.count else { break }
      let credential = rest.first.flatMap { $0.lowerBound == position ? $0.upperBound : nil }
      let token = includesTokens ? scanner.tokenEnd(at: position) : nil
      if let end = [credential, token].compactMap(\.self).max() {
        result.append(contentsOf: replacement(.value(text[position..<end]))?.bytes ?? [])
        position = end
        mayBegin = false
        continue
      }
      // A parameter whose name contains a token is left to the scanner, which finds the token itself.
      if mayBegin,
        let parameter = Parameter(
          in: text, at: position, part: part, closer: closer, knownEnd: valueEnd),
        !includesTokens
          || !Self.beginsToken(in: parameter.name, of: text)
            && !(rest.first.map(parameter.name.overlaps) ?? false)
      {
        result.append(contentsOf: text[position..<parameter.value.lowerBound])
        let value = text[parameter.value]
        let isSecret =
          isSecret(text[parameter.name], value)
          // A URL in a parameter is common: the target of a redirect, with its own token.
          || (parameter.value.upperBound != valueEnd && holdsSecret(value, depth: depth))
        valueEnd = parameter.value.upperBound
        if isSecret, !value.isEmpty {
          result.append(contentsOf: replacement(.value(value))?.bytes ?? [])
          position = parameter.value.upperBound
        } else {
          position = parameter.value.lowerBound
        }
        mayBegin = false
        continue
      }
      let byte = text[position]
      result.append(byte)
      position += 1
      mayBegin = part.enters(byte)
      // An authority is looked for after any `//`, also within a query, as a URL in a query has
      // one.
      if byte == UInt8(ascii: "/"), position < text.count, text[position] == byte {
        result.append(byte)
        position += 1
        position = appendAuthority(of: text, form, part, at: position, to: &result, replacement)
      } else if form == .text {
        Self.enclose(byte, &closer, &part)
      }
    }
    return result
  }

  /// Whether a text has a byte that any user information, parameter or token must have.
  private func mayHoldSecret(_ text: [UInt8]) -> Bool {
    let text = text.span
    for index in text.indices {
      switch text[index] {
      case UInt8(ascii: "@"), UInt8(ascii: "="): return true
      case UInt8(ascii: "e"):
        if includesTokens, index + 2 < text.count, text[index + 1] == UInt8(ascii: "y"),
          text[index + 2] == UInt8(ascii: "J")
        {
          return true
        }
      default: break
      }
    }
    return false
  }

  /// Whether the value of a parameter with this name, which may be percent-encoded, is secret.
  private func isSecret(_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) -> Bool {
    let name = Self.percentDecoded(name)
    if !parameterNames.isEmpty, parameterNames.contains(ByteString(name).asciiLowercased) {
      return true
    }
    return includesTokens
      && (SecretNames.isSecretParameter(name) || Self.isWebToken(value))
  }

  /// Appends an authority without its user information, and returns where the user information ends.
  private func appendAuthority(
    of text: [UInt8], _ form: Form, _ part: Part, at start: Int, to result: inout [UInt8],
    _ replacement: (Secret) -> ByteString?
  ) -> Int {
    let end = text[start...].firstIndex { Self.endsAuthority($0, form, part) } ?? text.count
    guard let userInfo = URLAuthority(text[start..<end]).userInfo, !userInfo.isEmpty else {
      return start
    }
    guard let new = replacement(.userInformation(userInfo)) else { return userInfo.endIndex + 1 }
    result.append(contentsOf: new.bytes)
    return userInfo.endIndex
  }

  /// Whether a byte ends an authority. Unlike in ``URLParts``, the URL may be within a text or the query of another
  /// URL, which continues after it.
  private static func endsAuthority(_ byte: UInt8, _ form: Form, _ part: Part) -> Bool {
    switch byte {
    case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): true
    case UInt8(ascii: "&"): part != .path
    case UInt8(ascii: ">"), UInt8(ascii: "\""), 0x20, 0x09: form == .text
    default: false
    }
  }

  /// Updates which byte ends the current URL in a header field, for the next byte of the field.
  private static func enclose(_ byte: UInt8, _ closer: inout UInt8?, _ part: inout Part) {
    if let end = closer {
      if byte == end { (closer, part) = (nil, .path) }
    } else if part != .path {
      // A URL without delimiters continues to the end of the text.
    } else if byte == UInt8(ascii: "<") {
      closer = UInt8(ascii: ">")
    } else if byte == UInt8(ascii: "\"") {
      closer = byte
    }
  }

  /// Whether a value is JSON with a secret, or a URL or a form, percent-encoded up to the nesting limit.
  private func holdsSecret(_ value: ArraySlice<UInt8>, depth: Int) -> Bool {
    if holdsSecretMember(value) { return true }
    if includesTokens, Credentials.areIn(Self.percentDecoded(value)[...]) { return true }
    guard depth < Self.nestingLimit, value.contains(UInt8(ascii: "%")) else { return false }
    let decoded = Self.percentDecoded(value)
    if holdsSecret(decoded[...], depth: depth + 1) { return true }
    var isFound = false
    let find = { (_: Secret) -> ByteString? in
      isFound = true
      return nil
    }
    _ = replaced(decoded, .url, depth: depth + 1, find)
    // A form is like the query of a URL without its `?`.
    if !isFound { _ = replaced([UInt8(ascii: "?")] + decoded, .url, depth: depth + 1, find) }
    return isFound
  }

  /// Whether a JSON text, or one that is quoted in another, has a member with the name of a secret.
  private func holdsSecretMember(_ text: ArraySlice<UInt8>) -> Bool {
    let quote = UInt8(ascii: "\"")
    guard var start = text.firstIndex(of: quote) else { return false }
    while let end = text[(start + 1)...].firstIndex(of: quote) {
      // A string followed by a colon is a name. Escaped quotes count as well: where a name begins may be unclear, but not
      // its last word, and a JSON text in a string has escaped quotes only.
      if text[(end + 1)...].first(where: { $0 > 0x20 }) == UInt8(ascii: ":") {
        let name = text[(start + 1)..<end]
        let backslashes = name.reversed().prefix { $0 == UInt8(ascii: "\\") }.count
        if isSecret(name.dropLast(backslashes), []) { return true }
      }
      start = end
    }
    return false
  }

  /// Whether a text contains a JSON Web Token at the beginning of a word.
  public static func hasWebToken(_ text: ArraySlice<UInt8>) -> Bool {
    var rest = text
    while let start = rest.firstIndex(of: UInt8(ascii: "e")) {
      rest = text[(start + 1)...]
      if start > text.startIndex, WebTokenScanner.isTokenByte(text[start - 1]) { continue }
      guard text[start...].starts(with: "eyJ".utf8) else { continue }
      if isWebToken(
        text[start...].prefix { WebTokenScanner.isTokenByte($0) || $0 == UInt8(ascii: ".") })
      {
        return true
      }
    }
    return false
  }

  /// Whether a token begins within a range of a text.
  private static func beginsToken(in range: Range<Int>, of text: [UInt8]) -> Bool {
    var scanner = WebTokenScanner(text, in: range)
    return range.contains { scanner.tokenEnd(at: $0) != nil }
  }

  /// Whether a value looks like a JSON Web Token.
  public static func isWebToken(_ value: ArraySlice<UInt8>) -> Bool {
    guard value.starts(with: [UInt8(ascii: "e"), UInt8(ascii: "y"), UInt8(ascii: "J")]) else {
      return false
    }
    // A token contains no `;`. Stopping there keeps a value with many parameters from being read again and again.
    let end = value.firstIndex { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ";") }
    return end.map { value[$0] == UInt8(ascii: ".") } ?? false
  }

  /// Returns the bytes with `%XX` decoded, and `+` replaced by a space.
  public static func percentDecoded(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    bytes.percentUnescaped(plusIsSpace: true)
  }
}
