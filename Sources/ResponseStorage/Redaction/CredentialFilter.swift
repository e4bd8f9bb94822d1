public import Bytes

/// What is left out of an archive: credentials, and with ``includesTokens`` all that a list masks.
///
/// Response bodies are no concern of a filter. ``Redaction`` applies it.
public struct CredentialFilter: Hashable, Sendable {
  /// The names of header fields that are left out besides those that hold secrets by their names, in
  /// small letters.
  public var fieldNames: Set<ByteString> = []

  /// The names of query parameters whose values are left out, in small letters.
  public var queryNames: Set<ByteString> = []

  /// Whether the values of parameters that look like tokens are left out of URLs.
  public var includesTokens = false

  /// Creates a filter of the header fields that hold secrets by their names, and of user information in URLs.
  public init() {}

  /// The header fields that contain a digest of the body, from which a short body can be guessed
  /// (RFC 9530, RFC 3230, RFC 1864, and those of object stores).
  public static let bodyDigestFields: Set<ByteString> = [
    "content-digest", "content-md5", "digest", "repr-digest", "x-amz-checksum-crc32",
    "x-amz-checksum-sha1", "x-amz-checksum-sha256", "x-goog-hash", "x-ms-blob-content-md5",
  ]

  /// Whether a header field of this name is left out; blanks around it do not matter.
  func isSecret(_ name: ByteString) -> Bool {
    SecretNames.isSecretHeader(name.bytes[...])
      || fieldNames.contains(ByteString(Array(name.bytes.trimmingBlanks)).asciiLowercased)
  }

  /// What finds the secrets in URLs.
  var secrets: URLSecrets {
    URLSecrets(parameterNames: queryNames, includesTokens: includesTokens)
  }

  /// What is left out of every response, by the places that an archive names it by.
  public var places: [String] {
    let named: Set<ByteString> = [
      "authorization", "proxy-authorization", "cookie", "cookie2", "set-cookie", "set-cookie2",
    ]
    return named.union(fieldNames).compactMap(\.string).map { "headers.\($0)" }.sorted()
      + ["headers.tokens"]
      + queryNames.compactMap(\.string).map { "query.\($0)" }.sorted()
      + (includesTokens ? ["query.tokens"] : [])
      + ["proto-props", "request.body", "url.userinfo", "user-info"]
  }
}
