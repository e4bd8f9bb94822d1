import Bytes

/// The query parameters of temporarily signed URLs of content delivery networks and object stores, in lowercase.
enum SignatureVocabulary {
  // AWS, Google, Tencent, Alibaba, UpYun, Akamai and others each use a name of their own, which
  // needs no other parameter as evidence.
  /// The parameters that are a signature on their own.
  static let seals: Set<ByteString> = [
    "x-amz-signature", "x-goog-signature", "q-signature", "auth_key", "_upt", "hdnea", "hdnts",
    "hdntl", "__gda__",
    "__token__", "wssecret", "txsecret",
  ]

  /// The parameters that are a signature together with an expiry.
  static let signatures: Set<ByteString> = ["signature", "sig", "sign", "token", "oh", "hm"]

  /// The parameters for the expiry of a signature.
  static let expiries: Set<ByteString> = [
    "expires", "expire", "expiry", "exp", "e", "se", "deadline", "oe", "ex",
  ]

  /// Other parameters of a signature.
  private static let others: Set<ByteString> = [
    "x-amz-algorithm", "x-amz-credential", "x-amz-date", "x-amz-expires", "x-amz-signedheaders",
    "x-amz-security-token", "x-amz-content-sha256", "awsaccesskeyid", "x-goog-algorithm",
    "x-goog-credential", "x-goog-date", "x-goog-expires", "x-goog-signedheaders", "googleaccessid",
    "ossaccesskeyid", "security-token", "key-pair-id", "policy", "keyname", "q-sign-algorithm",
    "q-ak",
    "q-sign-time", "q-key-time", "q-header-list", "q-url-param-list", "wstime", "txtime", "is",
  ]

  /// Parameters of an Azure shared access signature, which mean something else in other URLs.
  private static let azure: Set<ByteString> = [
    "sv", "sp", "sr", "st", "spr", "skoid", "sktid", "skt", "ske", "sks", "skv",
  ]

  /// Whether a parameter of a signed URL is part of the signature.
  ///
  /// - Parameter names: The names of all parameters.
  static func isPart(_ name: ByteString, of names: Set<ByteString>) -> Bool {
    if seals.contains(name) || signatures.contains(name) || expiries.contains(name) { return true }
    if azure.contains(name) { return names.contains("sig") && names.contains("se") }
    // No known network signs with a token alone.
    return others.contains(name)
      && !names.isDisjoint(with: seals.union(signatures.subtracting(["token"])))
  }
}
