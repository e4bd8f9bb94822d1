/// The names of parameters, header fields and properties that hold secrets, as far as a name tells.
public enum SecretNames {
  /// Whether the value of a parameter of a URL is a secret, by its percent-decoded name.
  public static func isSecretParameter(_ name: [UInt8]) -> Bool {
    if name.count > 256 { return false }
    let name = normalized(name[...])
    return exact.contains(name) || suffixes.contains { name.hasSuffix($0) }
      || name.hasPrefix("xamz") || name.hasPrefix("xgoog")
  }

  /// Whether the value of a header field, or of a property that is called as one, is a secret.
  public static func isSecretHeader(_ name: ArraySlice<UInt8>) -> Bool {
    if name.count > 256 { return false }
    var name = normalized(name)
    if headers.contains(name) || suffixes.contains(where: { name.hasSuffix($0) }) { return true }
    if name.hasPrefix("x") { name.removeFirst() }
    return headers.contains(name)
  }

  /// A name in small letters, without what only separates its words.
  private static func normalized(_ name: ArraySlice<UInt8>) -> String {
    var result: [UInt8] = []
    for byte in name {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
        result.append(byte)
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): result.append(byte | 0x20)
      default: break
      }
    }
    return ByteString(result).string ?? ""
  }

  private static let exact: Set<String> = [
    "auth", "authorization", "code", "credential", "credentials", "jwt", "key", "otp", "pass",
    "passphrase", "passwd", "password", "pin", "pwd", "secret", "session", "sid", "sig", "token",
  ]

  private static let suffixes = [
    "accesskey", "accesskeyid", "apikey", "assertion", "authcode", "authkey", "credential",
    "passphrase", "passwd", "password", "privatekey", "secret", "secretkey", "sessid",
    "sessionid", "sessionkey", "signature", "subscriptionkey", "token",
  ]

  private static let headers: Set<String> = [
    "auth", "authenticationinfo", "authkey", "authorization", "cookie", "cookie2", "credential",
    "credentials", "csrf", "hhaa", "jwt", "passwd", "password", "proxyauthenticationinfo",
    "proxyauthorization", "pwd", "secret", "session", "setcookie", "setcookie2", "sid",
  ]
}
