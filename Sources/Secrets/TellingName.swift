import Bytes

/// The name of a field or a parameter, as far as it tells what its value is.
enum TellingName: Hashable {
  case password
  case oauthToken
  case sessionID
  case secret
  case awsSecret
  case azureKey
  case signature
  case oauthCode
  case email
  case personal

  /// The longest name that is looked at.
  static let longest = 64

  /// The last letters of all names below, so that most names need no further look.
  private static let lastLetters: [Bool] = {
    var result = [Bool](repeating: false, count: 256)
    for byte in "acdefghklnrstxyz".utf8 {
      result[Int(byte)] = true
      result[Int(byte & ~0x20)] = true
    }
    return result
  }()

  /// Whether a name that ends with a byte can be a telling one.
  @inline(__always)
  static func mayEnd(with byte: UInt8) -> Bool { lastLetters[Int(byte)] }

  /// Returns what a name tells; `nil` if nothing.
  init?(_ name: ArraySlice<UInt8>) {
    guard (2...Self.longest).contains(name.count) else { return nil }
    let bytes = name.filter { $0.isASCIILetter || $0.isASCIIDigit }.map(\.asciiLowercased)
    guard let kind = Self.kind(of: bytes, in: name), !Self.isHarmless(bytes) else { return nil }
    self = kind
  }

  /// Returns what a name tells.
  ///
  /// - Parameter bytes: Its letters and digits, in lower case.
  private static func kind(of bytes: [UInt8], in name: ArraySlice<UInt8>) -> TellingName? {
    guard let text = ByteString(bytes).string else { return nil }
    if let exact = Self.exact[text] {
      return exact
    }
    for (suffix, kind) in Self.suffixes where bytes.reversed().starts(with: suffix) {
      return kind
    }
    if bytes.starts(with: "hdnt".utf8) || bytes.starts(with: "hdne".utf8) {
      return .signature
    }
    return SecretNames.isSecretParameter(Array(name)) ? .secret : nil
  }

  /// Whether a name contains a word by which its value is no credential.
  private static func isHarmless(_ name: [UInt8]) -> Bool {
    // Places in lists, protections of forms, and keys that are made to be public.
    for word in harmless where name.count >= word.count {
      for start in 0...name.count - word.count
      where name[start..<start + word.count].elementsEqual(word) {
        return true
      }
    }
    return false
  }

  private static let harmless = [
    "nextpage", "pagetoken", "continuation", "cursor", "synctoken", "csrf", "xsrf", "publi",
    "tokentype", "designtoken", "resumetoken", "antiforgery", "statetoken", "verificationtoken",
    "hint", "label", "placeholder", "title", "error", "policy", "strength", "expir", "uri", "url",
  ].map { Array($0.utf8) }

  private static let exact: [String: TellingName] = [
    "pass": .password, "pwd": .password, "passwd": .password, "pin": .password,
    "token": .oauthToken, "jwt": .oauthToken, "sid": .sessionID, "session": .sessionID,
    "sess": .sessionID, "ssid": .sessionID, "hsid": .sessionID, "apisid": .sessionID,
    "sapisid": .sessionID, "connectsid": .sessionID, "sessionhash": .sessionID,
    "code": .oauthCode, "authcode": .oauthCode, "authorizationcode": .oauthCode,
    "sig": .signature, "signature": .signature, "xamzsignature": .signature,
    "xgoogsignature": .signature, "hmac": .signature, "accountkey": .azureKey,
    "sharedaccesskey": .azureKey, "awssecretaccesskey": .awsSecret, "secretaccesskey": .awsSecret,
    "awssecretkey": .awsSecret, "awssecret": .awsSecret, "mail": .email, "email": .email,
    "emailaddress": .email, "phone": .personal, "phonenumber": .personal, "ssn": .personal,
    "birthdate": .personal, "dateofbirth": .personal, "iban": .personal, "creditcard": .personal,
    "cardnumber": .personal, "cvv": .personal, "lat": .personal, "latitude": .personal,
    // Names that a mask treats as secret, and that are too common to mean anything.
    "auth": .secret, "key": .secret, "appid": .secret, "credential": .secret, "cred": .secret,
  ]

  private static let suffixes: [([UInt8], TellingName)] =
    words(
      .password, "password", "passphrase", "passwd")
    + words(
      .oauthToken, "accesstoken", "refreshtoken", "idtoken", "authtoken", "sessiontoken",
      "bearertoken", "securitytoken", "usertoken", "logintoken", "apitoken")
    + words(.sessionID, "sessionid", "sessid", "session")
    + words(.email, "emailaddress", "email")

  /// Returns suffixes with the bytes in reverse order.
  private static func words(_ kind: TellingName, _ words: String...) -> [([UInt8], TellingName)] {
    words.map { (Array($0.utf8.reversed()), kind) }
  }
}
