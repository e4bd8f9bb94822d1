import Bytes

/// The parameters with which content networks and object stores sign a URL for some time, in small letters.
enum SignatureVocabulary {
  /// Those that are a signature by themselves.
  static let seals: Set<ByteString> = [
    "x-amz-signature", "x-goog-signature", "q-signature", "auth_key", "_upt", "hdnea", "hdnts",
    "hdntl", "__gda__",
    "__token__", "wssecret", "txsecret",
  ]

  /// Those that are one together with a moment.
  static let signatures: Set<ByteString> = ["signature", "sig", "sign", "token", "oh", "hm"]

  /// The moments at which signatures expire.
  static let expiries: Set<ByteString> = [
    "expires", "expire", "expiry", "exp", "e", "se", "deadline", "oe", "ex",
  ]

  /// What else belongs to a signature.
  private static let others: Set<ByteString> = [
    "x-amz-algorithm", "x-amz-credential", "x-amz-date", "x-amz-expires", "x-amz-signedheaders",
    "x-amz-security-token", "x-amz-content-sha256", "awsaccesskeyid", "x-goog-algorithm",
    "x-goog-credential", "x-goog-date", "x-goog-expires", "x-goog-signedheaders", "googleaccessid",
    "ossaccesskeyid", "security-token", "key-pair-id", "policy", "keyname", "q-sign-algorithm",
    "q-ak",
    "q-sign-time", "q-key-time", "q-header-list", "q-url-param-list", "wstime", "txtime", "is",
  ]

  /// What belongs to a shared access signature of Azure, and is something else elsewhere.
  private static let azure: Set<ByteString> = [
    "sv", "sp", "sr", "st", "spr", "skoid", "sktid", "skt", "ske", "sks", "skv",
  ]

  /// Whether a parameter of a signed URL belongs to the signature.
  ///
  /// - Parameter names: The names of all parameters.
  static func isPart(_ name: ByteString, of names: Set<ByteString>) -> Bool {
    if seals.contains(name) || signatures.contains(name) || expiries.contains(name) { return true }
    if azure.contains(name) { return names.contains("sig") && names.contains("se") }
    // A token alone is no signature of a known network.
    return others.contains(name)
      && !names.isDisjoint(with: seals.union(signatures.subtracting(["token"])))
  }
}
