public import Bytes

/// The secrets in a header field, or in a property.
public struct FieldSecrets: Sendable {
  /// The time with which expiries are compared.
  private let now: Timestamp

  /// Creates a search.
  ///
  /// - Parameter now: The time with which expiries are compared.
  public init(now: Timestamp) { self.now = now }

  /// Returns the secrets in the value of a field. Offsets count from its beginning.
  public func matches(in text: ByteString, named fieldName: ByteString) -> [SecretMatch] {
    let name = ByteString(Array(fieldName.bytes.trimmingBlanks)).asciiLowercased
    let value = text.bytes
    switch name {
    case "cookie", "cookie2", "x-original-cookie": return cookies(in: value)
    case "set-cookie", "set-cookie2": return setCookies(in: value)
    default: break
    }
    var result = URLSecretSearch.matches(in: value, now: now)
    guard result.isEmpty else { return result }
    let text = value[...].trimmingBlanks
    if name.bytes.reversed().starts(with: "authorization".utf8.reversed()) {
      if let match = authorization(text, in: value) { result.append(match) }
    } else if let rule = Self.rule(forFieldNamed: name, text) {
      result.append(SecretMatch(rule, at: text.startIndex, text, name: fieldName))
    }
    return result
  }

  /// Returns the rule that the value of a field breaks, by the name of the field; `nil` if it breaks none.
  private static func rule(
    forFieldNamed name: ByteString, _ value: ArraySlice<UInt8>
  ) -> SecretRule? {
    let isExtension = name.bytes.starts(with: "x-".utf8)
    switch TellingName(name.bytes[(isExtension ? 2 : 0)...]) {
    case .password: return value.isEmpty || Randomness.isPlaceholder(value) ? nil : .password
    case .awsSecret where value.count == 40 && !Randomness.isPlaceholder(value):
      return .awsSecretKey
    case .oauthToken where Randomness.looksRandom(value): return .oauthToken
    case .sessionID where Randomness.looksRandom(value): return .sessionID
    default: break
    }
    guard SecretNames.isSecretHeader(name.bytes[...]), !isHarmless(name) else { return nil }
    return Randomness.looksRandom(value) ? .apiKey : nil
  }

  /// Whether a field protects against forged requests, or is a digest or a trace. Its value is useless without a cookie.
  private static func isHarmless(_ name: ByteString) -> Bool {
    let name = ByteString(name.bytes.filter(\.isASCIILetter)).string ?? ""
    return ["csrf", "xsrf", "hhaa", "signature", "contentsession"].contains { word in
      name.utf8.count >= word.utf8.count
        && (name.utf8.starts(with: word.utf8) || name.utf8.starts(with: "x\(word)".utf8)
          || name.utf8.reversed().starts(with: word.utf8.reversed()))
    }
  }

  /// Returns credentials that no other rule knows: `Digest …`, `AWS4-HMAC-SHA256 …`, or a key without a scheme.
  private func authorization(
    _ text: ArraySlice<UInt8>, in value: [UInt8]
  ) -> SecretMatch? {
    let scheme = text.prefix { !$0.isBlank }
    let rest = text[scheme.endIndex...].drop(while: \.isBlank)
    let detector = SecretDetector(text: value, context: .fields, now: now.wholeSeconds)
    let name = ByteString(scheme.map(\.asciiLowercased))
    if name == "basic", let match = detector.basic(rest.indices) { return match }
    // Whatever a server accepts as a token, a short one too.
    if name == "bearer", rest.count >= 4, !Randomness.isPlaceholder(rest) {
      return SecretMatch(.bearerToken, at: rest.startIndex, rest)
    }
    guard !rest.isEmpty || scheme.count >= Randomness.leastBytes else { return nil }
    let secret = rest.isEmpty ? scheme : rest
    return Randomness.isPlaceholder(secret)
      ? nil : SecretMatch(.authorization, at: secret.startIndex, secret)
  }

  // MARK: - Cookies

  private func cookies(in value: [UInt8]) -> [SecretMatch] {
    var result: [SecretMatch] = []
    for pair in value.split(separator: UInt8(ascii: ";")) {
      let (name, value) = Self.parts(of: pair)
      if Self.isSession(name, value, isProtected: false) {
        result.append(
          SecretMatch(.cookie, at: value.startIndex, value, name: ByteString(Array(name))))
      }
    }
    return result
  }

  private func setCookies(in value: [UInt8]) -> [SecretMatch] {
    var result: [SecretMatch] = []
    // A store that joins lines writes `, ` between cookies, which can also be in a date.
    for cookie in Self.cookies(of: value) {
      let parts = cookie.split(separator: UInt8(ascii: ";"))
      guard let first = parts.first else { continue }
      let (name, value) = Self.parts(of: first)
      let attributes = parts.dropFirst().map {
        ByteString($0.trimmingBlanks.map(\.asciiLowercased))
      }
      // It removes a cookie.
      if attributes.contains(where: { $0 == "max-age=0" || $0.bytes.starts(with: "max-age=-".utf8) }
      ) {
        continue
      }
      if Self.isSession(name, value, isProtected: attributes.contains("httponly")) {
        result.append(
          SecretMatch(.setCookie, at: value.startIndex, value, name: ByteString(Array(name))))
      }
    }
    return result
  }

  /// Splits joined lines where a comma is followed by `name=`, before any `;`.
  private static func cookies(of value: [UInt8]) -> [ArraySlice<UInt8>] {
    var (result, start): ([ArraySlice<UInt8>], Int) = ([], 0)
    for place in value.indices where value[place] == UInt8(ascii: ",") {
      let rest = value[(place + 1)...].drop(while: \.isBlank)
      let name = rest.prefix(while: \.isTokenCharacter)
      guard !name.isEmpty, name.endIndex < value.count, value[name.endIndex] == UInt8(ascii: "=")
      else { continue }
      result.append(value[start..<place])
      start = place + 1
    }
    return result + [value[start...]]
  }

  private static func parts(
    of pair: ArraySlice<UInt8>
  ) -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>) {
    let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
    var value = pair[min(equals + 1, pair.endIndex)...].trimmingBlanks
    if value.count >= 2, value.first == UInt8(ascii: "\""), value.last == UInt8(ascii: "\"") {
      value = value.dropFirst().dropLast()
    }
    return (pair[..<equals].trimmingBlanks, value)
  }

  /// Whether a cookie is probably that of a session.
  ///
  /// - Parameter isProtected: Whether scripts cannot read it, which is for credentials only.
  private static func isSession(
    _ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>, isProtected: Bool
  ) -> Bool {
    guard value.count >= 8, !Randomness.isPlaceholder(value) else { return false }
    let letters = ByteString(name.filter(\.isASCIILetter).map(\.asciiLowercased))
    let text = letters.string ?? ""
    // Cookies of statistics are random, too, but nobody signs in with them.
    if tracking.contains(where: { text.utf8.starts(with: $0.utf8) }) { return false }
    let hasDigit = value.contains(where: \.isASCIIDigit)
    if hasDigit, sessions.contains(where: { contains(letters.bytes, $0) }) { return true }
    if let kind = TellingName(name), kind != .email, kind != .personal, hasDigit { return true }
    return isProtected && Randomness.looksRandom(value)
  }

  private static func contains(_ text: [UInt8], _ word: [UInt8]) -> Bool {
    guard text.count >= word.count else { return false }
    return (0...text.count - word.count).contains { start in
      text[start..<start + word.count].elementsEqual(word)
    }
  }

  private static let sessions = [
    "sess", "sid", "auth", "token", "jwt", "login", "remember", "identity", "credential",
    "aspnetcore",
  ].map { Array($0.utf8) }

  private static let tracking = [
    "ga", "gid", "gcl", "utm", "fbp", "fbc", "hj", "mp", "amplitude", "optimizely", "dtm",
    "csrf", "xsrf", "xcsrf", "cf", "cfduid", "akbmsc", "bmsz", "bmsv", "abck", "visid", "incap",
    "nlbi", "demdex", "sccid", "scid", "muid", "uid", "nid", "ajs", "datadome",
  ]
}
