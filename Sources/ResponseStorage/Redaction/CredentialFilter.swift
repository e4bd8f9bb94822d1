public import Bytes
import Secrets

/// What an archive leaves out: credentials, and with ``includesTokens`` everything that lists mask.
///
/// A filter does not apply to response bodies. ``Redaction`` applies it.
public struct CredentialFilter: Hashable, Sendable {
  /// The names of header fields to leave out, in addition to those whose names mark them as secret, in
  /// lower case.
  public var fieldNames: Set<ByteString> = []

  /// The names of query parameters whose values are left out, in lower case.
  public var queryNames: Set<ByteString> = []

  /// Whether to leave values of parameters that look like tokens out of URLs.
  public var includesTokens = false

  /// Creates a filter for header fields whose names mark them as secret, and for user information in URLs.
  public init() {}

  /// The header fields that contain a digest of the body, from which a short body can be guessed
  /// (RFC 9530, RFC 3230, RFC 1864, and those of object stores).
  public static let bodyDigestFields: Set<ByteString> = [
    // A four-digit code that a server sends can be found by trying all of them against the digest.
    "content-digest", "content-md5", "digest", "repr-digest", "x-amz-checksum-crc32",
    "x-amz-checksum-sha1", "x-amz-checksum-sha256", "x-goog-hash", "x-ms-blob-content-md5",
  ]

  /// Whether a header field with this name is left out; surrounding blanks are ignored.
  func isSecret(_ name: ByteString) -> Bool {
    // A name with blanks is not valid (RFC 9110 §5.1), but a cache can contain one all the same.
    SecretNames.isSecretHeader(name.bytes[...])
      || fieldNames.contains(ByteString(Array(name.bytes.trimmingBlanks)).asciiLowercased)
  }

  /// The search for secrets in URLs.
  var secrets: URLSecrets {
    URLSecrets(parameterNames: queryNames, includesTokens: includesTokens)
  }

  /// The locations that are left out of every response, as an archive lists them.
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
