import Bytes

/// The names of parameters, header fields and properties whose values are probably secret.
public enum SecretNames {
  /// Whether the value of a URL parameter with this percent-decoded name is secret.
  public static func isSecretParameter(_ name: [UInt8]) -> Bool {
    // No secret has a name of that length, and a hostile URL can have a name of a megabyte.
    if name.count > 256 { return false }
    let bytes = normalized(withoutIndex(name))
    guard let name = ByteString(bytes).string else { return false }
    return exact.contains(name) || hasSecretSuffix(bytes)
      // The parameters of signed URLs of Amazon S3 and Google Cloud Storage. Whoever has such a URL
      // has the file.
      || bytes.starts(with: "xamz".utf8) || bytes.starts(with: "xgoog".utf8)
  }

  /// Whether the value of a header field, or of a property with such a name, is secret.
  public static func isSecretHeader(_ name: ArraySlice<UInt8>) -> Bool {
    if name.count > 256 { return false }
    let bytes = normalized(name)
    guard let name = ByteString(bytes).string else { return false }
    if headers.contains(name) || hasSecretSuffix(bytes) { return true }
    guard bytes.first == UInt8(ascii: "x") else { return false }
    // Names that proxies use: X-Forwarded-Authorization, X-Original-Cookie.
    return headers.contains(String(name.unicodeScalars.dropFirst()))
      || bytes.reversed().starts(with: "authorization".utf8.reversed())
      || bytes.reversed().starts(with: "cookie".utf8.reversed())
  }

  /// Returns the name of a parameter without an array index: `token` for `token[0]`.
  private static func withoutIndex(_ name: [UInt8]) -> ArraySlice<UInt8> {
    guard name.last == UInt8(ascii: "]"), let start = name.lastIndex(of: UInt8(ascii: "[")),
      name[(start + 1)...].dropLast().allSatisfy(\.isASCIIDigit)
    else { return name[...] }
    return name[..<start]
  }

  /// Returns a name in lower case, without separators between words.
  private static func normalized(_ name: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    for byte in name {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
        result.append(byte)
      // `api_key`, `apiKey`, `API-Key` and `api.key` are one name this way.
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): result.append(byte | 0x20)
      default: break
      }
    }
    return result
  }

  /// Whether a name ends in one of the suffixes.
  private static func hasSecretSuffix(_ name: [UInt8]) -> Bool {
    // Called for every name; iterating over the array would retain and release each suffix.
    let (suffixes, name) = (suffixes.span, name.span)
    for place in suffixes.indices {
      let suffix = suffixes[place].span
      let start = name.count - suffix.count
      if start < 0 { continue }
      var index = suffix.count - 1
      while index >= 0, name[start + index] == suffix[index] { index -= 1 }
      if index < 0 { return true }
    }
    return false
  }

  private static let exact: Set<String> = [
    "auth", "authorization", "bearer", "code", "codeverifier", "cred", "credential", "credentials",
    "creds", "hdnea", "hdntl", "hdnts", "hmac", "idtokenhint", "jwt", "key", "keypairid", "otp",
    "pass", "passphrase", "passwd", "password", "pin", "pwd", "samlart", "samlrequest",
    "samlresponse", "sas", "secret", "session", "sid", "sig", "ticket", "tk", "token",
  ]

  private static let suffixes = [
    "accesskey", "accesskeyid", "apikey", "appcheck", "assertion", "authcode", "authkey",
    "credential",
    "functionskey",
    "passphrase", "passwd", "password", "privatekey", "secret", "secretkey", "sessid",
    "sessionid", "sessionkey", "signature", "subscriptionkey", "token",
  ].map { Array($0.utf8) }

  private static let headers: Set<String> = [
    "auth", "authenticationinfo", "authkey", "authorization", "cookie", "cookie2", "credential",
    "credentials", "csrf", "hhaa", "jwt", "passwd", "password", "proxyauthenticationinfo",
    "proxyauthorization", "pwd", "secret", "session", "setcookie", "setcookie2", "sid",
  ]
}
