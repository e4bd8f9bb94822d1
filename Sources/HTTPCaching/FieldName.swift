/// The name of a header field, whose case does not matter (RFC 9110 §5.1).
public struct FieldName: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The bytes of the name, ASCII capitals made small.
  public let lowercased: [UInt8]

  /// Creates a name; the case of ASCII letters does not matter.
  public init(_ bytes: some Sequence<UInt8>) {
    lowercased = bytes.map(\.lowercasedASCII)
  }

  /// Creates a name; the case of ASCII letters does not matter.
  public init(_ bytes: [UInt8]) {
    lowercased = bytes.map(\.lowercasedASCII)
  }

  public init(stringLiteral value: StaticString) {
    self.init(value.description.utf8)
  }

  /// Whether a header field can have this name: whether it is a token (RFC 9110 §5.1).
  public var isValid: Bool { lowercased.isToken }

  /// Whether the bytes are this name, in any case (RFC 9110 §5.1).
  public func matches(_ bytes: [UInt8]) -> Bool { bytes.equalsIgnoringCase(lowercased) }
}

// The fields that this module reads or writes.
extension FieldName {
  /// `Age` (RFC 9111 §5.1).
  public static let age: FieldName = "Age"
  /// `Cache-Control` (RFC 9111 §5.2).
  public static let cacheControl: FieldName = "Cache-Control"
  /// `Connection` (RFC 9110 §7.6.1).
  public static let connection: FieldName = "Connection"
  /// `Content-Encoding` (RFC 9110 §8.4).
  public static let contentEncoding: FieldName = "Content-Encoding"
  /// `Content-Length` (RFC 9110 §8.6).
  public static let contentLength: FieldName = "Content-Length"
  /// `Content-Location` (RFC 9110 §8.7).
  public static let contentLocation: FieldName = "Content-Location"
  /// `Content-Range` (RFC 9110 §14.4).
  public static let contentRange: FieldName = "Content-Range"
  /// `Date` (RFC 9110 §6.6.1).
  public static let date: FieldName = "Date"
  /// `ETag` (RFC 9110 §8.8.3).
  public static let entityTag: FieldName = "ETag"
  /// `Expires` (RFC 9111 §5.3).
  public static let expires: FieldName = "Expires"
  /// `If-Modified-Since` (RFC 9110 §13.1.3).
  public static let ifModifiedSince: FieldName = "If-Modified-Since"
  /// `If-None-Match` (RFC 9110 §13.1.2).
  public static let ifNoneMatch: FieldName = "If-None-Match"
  /// `If-Range` (RFC 9110 §13.1.5).
  public static let ifRange: FieldName = "If-Range"
  /// `Last-Modified` (RFC 9110 §8.8.2).
  public static let lastModified: FieldName = "Last-Modified"
  /// `Pragma` (RFC 9111 §5.4).
  public static let pragma: FieldName = "Pragma"
  /// `Range` (RFC 9110 §14.2).
  public static let range: FieldName = "Range"
  /// `Vary` (RFC 9110 §12.5.5).
  public static let vary: FieldName = "Vary"

  /// `Authorization` (RFC 9110 §11.6.2).
  public static let authorization: FieldName = "Authorization"
  /// `Cookie` (RFC 6265 §4.2).
  public static let cookie: FieldName = "Cookie"
  /// `Proxy-Authenticate` (RFC 9110 §11.7.1).
  public static let proxyAuthenticate: FieldName = "Proxy-Authenticate"
  /// `Proxy-Authorization` (RFC 9110 §11.7.2).
  public static let proxyAuthorization: FieldName = "Proxy-Authorization"
  /// `Set-Cookie` (RFC 6265 §4.1).
  public static let setCookie: FieldName = "Set-Cookie"
  /// `WWW-Authenticate` (RFC 9110 §11.6.1).
  public static let authenticate: FieldName = "WWW-Authenticate"

  /// The fields of a response that decide whether it is stored and used, here or by other caches, and
  /// those that make it private.
  public static let ofResponse: [FieldName] = [
    .age, .authenticate, .cacheControl, .contentEncoding, .contentLength, .contentLocation,
    .contentRange, .date, .entityTag, .expires, .lastModified, .pragma, .proxyAuthenticate,
    .setCookie, .vary,
  ]

  /// The fields of a request that decide so, but for those that `Vary` names.
  public static let ofRequest: [FieldName] = [
    .authorization, .cacheControl, .cookie, .pragma, .proxyAuthorization,
  ]

  /// The fields that freshness and validators depend on (RFC 9111 §4.2, RFC 9110 §8.8).
  public static let ofFreshness: [FieldName] = [
    .age, .cacheControl, .date, .entityTag, .expires, .lastModified,
  ]
}
