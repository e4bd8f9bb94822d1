import Bytes

extension SecretDetector {
  /// Whether the name before a separator tells that a value is secret.
  func hasTellingName(before separator: Int) -> Bool {
    guard let name = NamedValue.name(in: text, before: separator) else { return false }
    return TellingName(text[name.range]) != nil
  }

  /// Returns the secret in a value, if it is one.
  func match(for pair: NamedValue, at separator: Int) -> SecretMatch? {
    guard !pair.value.isEmpty, let name = TellingName(text[pair.name]) else { return nil }
    let value = text[pair.value]
    guard !Randomness.isPlaceholder(value) || name == .email else { return nil }
    // Of a colon, only quoted values are members of JSON; `a ? b : c` and `key: value` of a style sheet are not.
    if context != .fields, text[separator] == UInt8(ascii: ":"), !pair.isQuoted,
      !Randomness.looksRandom(value)
    {
      return nil
    }
    guard let rule = rule(for: name, pair), !hasKnownFormat(pair.value) else { return nil }
    var match = SecretMatch(
      rule, at: pair.value.lowerBound, value, name: ByteString(Array(text[pair.name])))
    if rule == .signedURL {
      guard let url = SignedURL(in: text, signature: pair) else { return nil }
      match.expires = url.expires
      if let expires = url.expires, expires <= now { match.rule = .expiredSignedURL }
    }
    return match
  }

  /// Returns the rule that a value breaks; `nil` if it breaks none.
  private func rule(for name: TellingName, _ pair: NamedValue) -> SecretRule? {
    let value = text[pair.value]
    let isRandom = Randomness.looksRandom(value)
    switch name {
    case .password: return isPassword(value, pair) ? .password : nil
    case .oauthToken:
      return isRandom || context == .fields && value.count >= 20 && isToken(value)
        ? .oauthToken : nil
    case .sessionID: return isRandom ? .sessionID : nil
    case .secret: return isRandom && isAPIKey(pair) ? .apiKey : nil
    case .awsSecret:
      return value.count == 40 && value.allSatisfy(Self.isBase64)
        && Randomness.hasDifferentBytes(value, 12) ? .awsSecretKey : isRandom ? .apiKey : nil
    case .azureKey:
      return (40...96).contains(value.count) && value.last == UInt8(ascii: "=")
        && value.dropLast(2).allSatisfy(Self.isBase64) ? .azureKey : nil
    case .signature: return .signedURL
    case .oauthCode: return isOAuthCode(pair) ? .oauthCode : nil
    case .email: return isEmail(value) ? email(pair) : nil
    case .personal: return isPersonal(pair) ? .personalDataInURL : nil
    }
  }

  private func email(_ pair: NamedValue) -> SecretRule? {
    switch context {
    case .fields: .personalDataInURL
    case .text: pair.isQuoted ? .email : nil
    case .script: nil
    }
  }

  // MARK: - Values

  /// Whether a value can be a password, and not a label such as `"password": "Passwort"`.
  private func isPassword(_ value: ArraySlice<UInt8>, _ pair: NamedValue) -> Bool {
    guard value.count <= 256, !value.starts(with: "http".utf8), !value.starts(with: "/".utf8) else {
      return false
    }
    switch context {
    case .fields: return true
    case .text:
      guard value.count >= 4, pair.isQuoted || text[pair.name.upperBound] == UInt8(ascii: "=")
      else { return false }
      // Labels and messages have words, which are only letters and spaces.
      let hasOther = value.contains {
        !$0.isASCIILetter && $0 < 0x80 && !" .,!?'-:_".utf8.contains($0)
      }
      let isHash = value.count >= 32 && value.allSatisfy { Base16.value(of: $0) != nil }
      return hasOther && !value.contains(UInt8(ascii: " ")) || isHash
        || !value.contains(UInt8(ascii: " ")) && hasUserName(around: pair)
    case .script: return pair.isQuoted && Randomness.looksRandom(value)
    }
  }

  /// Whether a member or a parameter nearby names a user, as in the answer to a login.
  private func hasUserName(around pair: NamedValue) -> Bool {
    let start = max(0, pair.name.lowerBound - 160)
    let end = min(text.count, pair.value.upperBound + 160)
    for place in start..<end
    where text[place] == text[pair.name.upperBound + (pair.hasQuotedName ? 1 : 0)] {
      guard let other = NamedValue(in: text, at: place), other.name != pair.name,
        other.hasQuotedName == pair.hasQuotedName
      else { continue }
      let name =
        ByteString(
          text[other.name].filter(\.isASCIILetter).map(\.asciiLowercased)
        ).string ?? ""
      guard ["username", "user", "login", "userid", "granttype", "email"].contains(name) else {
        continue
      }
      let value = text[other.value]
      // A translation has the same words as names and as values.
      if value.contains(where: { $0.isASCIIDigit || "@._".utf8.contains($0) }) { return true }
    }
    return false
  }

  /// Whether a random value is probably the key of a service.
  private func isAPIKey(_ pair: NamedValue) -> Bool {
    let name =
      ByteString(
        text[pair.name].filter { $0.isASCIILetter || $0.isASCIIDigit }.map(\.asciiLowercased)
      ).string ?? ""
    // Of these words alone, other things are named as well.
    if ["key", "auth", "ticket", "appid", "credential", "cred", "credentials", "code", "state"]
      .contains(name)
    {
      return context == .fields && pair.value.count >= 24
    }
    // The parameters of signed URLs are reported with the signature.
    return !name.utf8.starts(with: "xamz".utf8) && !name.utf8.starts(with: "xgoog".utf8)
      && !["keypairid", "awsaccesskeyid", "accesskeyid", "signature"].contains(name)
  }

  /// Whether a parameter `code` is part of the redirect of OAuth, and not of anything else.
  private func isOAuthCode(_ pair: NamedValue) -> Bool {
    guard context == .fields, (8...2_048).contains(pair.value.count),
      isToken(text[pair.value]), pair.name.lowerBound > 0
    else { return false }
    let start = max(0, pair.name.lowerBound - 512)
    let around = text[start..<min(text.count, pair.value.upperBound + 512)].map(\.asciiLowercased)
    let words = ["state=", "callback", "oauth", "redirect", "grant_type=authorization_code"]
    return Randomness.looksRandom(text[pair.value])
      && words.contains { word in
        let word = Array(word.utf8)
        return around.count >= word.count
          && (0...around.count - word.count).contains {
            around[$0..<$0 + word.count].elementsEqual(word)
          }
      }
  }

  private func isPersonal(_ pair: NamedValue) -> Bool {
    guard context == .fields else { return false }
    let value = text[pair.value]
    // A position with four decimals is a house.
    let digits = value.count(where: \.isASCIIDigit)
    return value.contains(UInt8(ascii: ".")) ? digits >= 6 : digits >= 7 && value.count <= 34
  }

  private func isEmail(_ value: ArraySlice<UInt8>) -> Bool {
    guard (6...254).contains(value.count) else { return false }
    let decoded = value.percentUnescaped()[...]
    guard let at = decoded.firstIndex(of: UInt8(ascii: "@")), at > decoded.startIndex,
      decoded.lastIndex(of: UInt8(ascii: "@")) == at
    else { return false }
    let domain = decoded[(at + 1)...]
    return domain.contains(UInt8(ascii: ".")) && domain.first != UInt8(ascii: ".")
      && decoded.allSatisfy { $0 > 0x20 && !"<>()[]{}\"\\,;:".utf8.contains($0) }
      // Addresses of documentation belong to nobody (RFC 2606).
      && !domain.starts(with: "example.".utf8)
  }

  private func isToken(_ value: ArraySlice<UInt8>) -> Bool {
    value.allSatisfy(\.isOfToken) && value.contains(where: \.isASCIIDigit)
  }

  private static func isBase64(_ byte: UInt8) -> Bool {
    byte.isASCIILetter || byte.isASCIIDigit || byte == UInt8(ascii: "+")
      || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "=")
  }
}
