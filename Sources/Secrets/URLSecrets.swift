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

/// The secrets in a URL, a form, or another short text in which values can be percent-escaped.
public enum URLSecretSearch {
  /// Returns the secrets in a text, as written and with escapes decoded. Each is returned once, by the place of the
  /// text as written, or of the escaped value.
  public static func matches(in text: [UInt8], now: Timestamp) -> [SecretMatch] {
    var result = SecretScanner.matches(in: text, .fields, now: now).map(decoded)
    forEachEscapedValue(in: text) { value, unescaped in
      for var match in SecretScanner.matches(in: unescaped, .fields, now: now) {
        match.offset = Int64(value.lowerBound)
        let isKnown = result.contains {
          $0.rule == match.rule && $0.value == match.value
            || $0.offset == match.offset && $0.value.bytes.count >= match.value.bytes.count
              && $0.rule != .apiKey
        }
        guard !isKnown else { continue }
        // What is known only by its name is known better by its format.
        result.removeAll { $0.offset == match.offset && $0.rule == .apiKey }
        result.append(match)
      }
    }
    return result
  }

  /// Returns a match with the escapes of its value decoded, so that a secret is the same here and elsewhere.
  private static func decoded(_ match: SecretMatch) -> SecretMatch {
    // Of a user name and a password, the escaped characters may be those that separate them.
    guard match.value.bytes.contains(UInt8(ascii: "%")), match.rule != .urlCredentials else {
      return match
    }
    var match = match
    match.value = ByteString(match.value.bytes[...].percentUnescaped())
    return match
  }
}

extension URLSecrets {
  /// Returns the value of a header field, or of a property, with each secret replaced; all other bytes are unchanged.
  ///
  /// A value that is a secret as a whole, as the name of the field or a scheme before a token tells, is replaced as a whole.
  /// In other values, secrets are found in URLs, by their formats, and by the names before them: `token=…`,
  /// `{"password":"…"}`. Without ``includesTokens``, only URLs are looked at.
  public func replacing(
    in value: ByteString, ofField name: ByteString, by replacement: (Secret) -> ByteString?
  ) -> ByteString {
    // Fields such as `Location` and `Referer` contain whole URLs, with the tokens in them. Most values have none of these
    // bytes.
    let mayContainURL = value.bytes.contains { byte in
      switch byte {
      case UInt8(ascii: "?"), UInt8(ascii: "@"), UInt8(ascii: "#"), UInt8(ascii: ";"): true
      default: false
      }
    }
    let new = mayContainURL ? replacing(in: value, as: .text, by: replacement) : value
    guard includesTokens else { return new }
    if Self.isSecret(new, named: name) { return replacement(.value(value.bytes[...])) ?? "" }
    let text = new.bytes
    let places = SecretRanges.merged(
      SecretDetector.credentials(in: text, .fields) + SecretRanges.namedValues(in: text))
    guard !places.isEmpty else { return new }
    var result: [UInt8] = []
    var position = 0
    for place in places {
      result += text[position..<place.lowerBound]
      result +=
        isReplaced(text[place])
        ? Array(text[place]) : replacement(.value(text[place]))?.bytes ?? []
      position = place.upperBound
    }
    return ByteString(result + text[position...])
  }

  /// Whether a value was replaced before, by a mask or a redaction. A weak password, such as `secret`, is none of these.
  private func isReplaced(_ value: ArraySlice<UInt8>) -> Bool {
    value.elementsEqual("***".utf8) || value.starts(with: "REDACTED-".utf8)
  }

  /// Whether a value is a secret as a whole. Apps send tokens in fields of any name, so the value decides as well.
  private static func isSecret(_ value: ByteString, named name: ByteString) -> Bool {
    if hasWebToken(value.bytes[...]) || Credentials.areIn(fieldValue: value.bytes[...]) {
      return true
    }
    return FieldSecrets(now: .epoch).matches(in: value, named: name).contains { match in
      match.rule.isCredential
        && value.bytes[...].trimmingBlanks.count <= match.value.bytes.count
    }
  }
}

extension URLSecrets {
  /// A part of a URL.
  enum Part {
    case path
    case query
    case fragment

    /// Moves to the part that begins after `byte`, and returns whether a parameter may begin there.
    mutating func enters(_ byte: UInt8) -> Bool {
      switch (byte, self) {
      case (UInt8(ascii: "?"), .path):
        self = .query
        return true
      case (UInt8(ascii: "#"), .path), (UInt8(ascii: "#"), .query):
        self = .fragment
        return true
      case (UInt8(ascii: ";"), _): return true
      case (UInt8(ascii: "&"), _), (UInt8(ascii: "?"), _): return self != .path
      default: return false
      }
    }
  }

  /// A parameter of a URL.
  struct Parameter {
    let name: Range<Int>
    let value: Range<Int>

    /// Creates the parameter that begins at `start`, or `nil` if there is no `=` before its end.
    ///
    /// - Parameters:
    ///   - closer: The byte that ends the URL in a text.
    ///   - knownEnd: The end of the previous value, which is also the end of this one if it comes later.
    init?(in url: [UInt8], at start: Int, part: Part, closer: UInt8?, knownEnd: Int) {
      var equals = start
      while equals < url.count, url[equals] != UInt8(ascii: "=") {
        if url[equals] == closer { return nil }
        switch url[equals] {
        case UInt8(ascii: "&"), UInt8(ascii: ";"), UInt8(ascii: "#"), UInt8(ascii: "?"): return nil
        // In a query, a slash is an ordinary character (RFC 3986 §3.4).
        case UInt8(ascii: "/") where part == .path: return nil
        default: equals += 1
        }
      }
      guard equals < url.count else { return nil }
      // A value is searched from where the last one ended. From its own start, a query of n
      // semicolons would take n² steps.
      var end = max(equals + 1, knownEnd)
      scan: while end < url.count, url[end] != closer {
        switch (url[end], part) {
        case (UInt8(ascii: "&"), .query), (UInt8(ascii: "&"), .fragment),
          (UInt8(ascii: "#"), .query), (UInt8(ascii: "#"), .path), (UInt8(ascii: "?"), .path),
          (UInt8(ascii: "/"), .path), (UInt8(ascii: ";"), .path):
          break scan
        default: end += 1
        }
      }
      name = start..<equals
      value = (equals + 1)..<end
    }
  }
}
