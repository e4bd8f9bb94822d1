import Bytes

/// The name of a header field, compared ignoring case (RFC 9110 §5.1).
public struct FieldName: Hashable, Sendable, ExpressibleByStringLiteral {
  private enum Form: Hashable, Sendable {
    case known(KnownFieldName)
    /// The bytes of an unknown name, with ASCII capitals in lowercase.
    case other([UInt8])
  }

  private let form: Form

  /// Creates a name, ignoring the case of ASCII letters.
  public init(_ bytes: some Sequence<UInt8>) {
    self.init(Array(bytes))
  }

  /// Creates a name, ignoring the case of ASCII letters.
  public init(_ bytes: [UInt8]) {
    form = KnownFieldName(bytes.span).map { .known($0) } ?? .other(bytes.map(\.asciiLowercased))
  }

  public init(stringLiteral value: StaticString) {
    self.init(value.description.utf8)
  }

  /// Creates the name of a field line.
  public init(of line: FieldLine) {
    form = line.known.map { .known($0) } ?? .other(line.name.map(\.asciiLowercased))
  }

  /// Creates a known name.
  init(_ known: KnownFieldName) {
    form = .known(known)
  }

  /// The field, if it is known.
  var known: KnownFieldName? {
    if case .known(let known) = form { known } else { nil }
  }

  /// The bytes of the name, with ASCII capitals in lowercase.
  public var lowercased: [UInt8] {
    switch form {
    case .known(let known): Array(known.lowercased.utf8)
    case .other(let name): name
    }
  }

  /// Whether the name is a token, as field names must be (RFC 9110 §5.1).
  public var isValid: Bool {
    switch form {
    case .known: true
    // A name from a cache that is no token could end its line and begin another header field, if it
    // was sent.
    case .other(let name): name.isToken
    }
  }

  /// Whether the bytes are this name, in any case (RFC 9110 §5.1).
  public func matches(_ bytes: [UInt8]) -> Bool { matches(bytes.span) }

  /// Whether the bytes are this name, in any case (RFC 9110 §5.1).
  public func matches(_ bytes: Span<UInt8>) -> Bool {
    switch form {
    case .known(let known): KnownFieldName(bytes) == known
    case .other(let name): bytes.equalsIgnoringCase(name)
    }
  }

  /// Whether the line belongs to this field (RFC 9110 §5.1).
  public func matches(_ line: borrowing FieldLine) -> Bool {
    switch form {
    case .known(let known): line.known == known
    // A line with a known name cannot match, which saves the comparison.
    case .other(let name): line.known == nil && line.name.span.equalsIgnoringCase(name)
    }
  }
}

// The fields that this module reads or writes.
extension FieldName {
  /// `Age` (RFC 9111 §5.1).
  public static var age: FieldName { FieldName(.age) }
  /// `Cache-Control` (RFC 9111 §5.2).
  public static var cacheControl: FieldName { FieldName(.cacheControl) }
  /// `Connection` (RFC 9110 §7.6.1).
  public static var connection: FieldName { FieldName(.connection) }
  /// `Content-Encoding` (RFC 9110 §8.4).
  public static var contentEncoding: FieldName { FieldName(.contentEncoding) }
  /// `Content-Length` (RFC 9110 §8.6).
  public static var contentLength: FieldName { FieldName(.contentLength) }
  /// `Content-Location` (RFC 9110 §8.7).
  public static var contentLocation: FieldName { FieldName(.contentLocation) }
  /// `Content-Range` (RFC 9110 §14.4).
  public static var contentRange: FieldName { FieldName(.contentRange) }
  /// `Date` (RFC 9110 §6.6.1).
  public static var date: FieldName { FieldName(.date) }
  /// `ETag` (RFC 9110 §8.8.3).
  public static var entityTag: FieldName { FieldName(.entityTag) }
  /// `Expires` (RFC 9111 §5.3).
  public static var expires: FieldName { FieldName(.expires) }
  /// `If-Modified-Since` (RFC 9110 §13.1.3).
  public static var ifModifiedSince: FieldName { FieldName(.ifModifiedSince) }
  /// `If-None-Match` (RFC 9110 §13.1.2).
  public static var ifNoneMatch: FieldName { FieldName(.ifNoneMatch) }
  /// `If-Range` (RFC 9110 §13.1.5).
  public static var ifRange: FieldName { FieldName(.ifRange) }
  /// `Last-Modified` (RFC 9110 §8.8.2).
  public static var lastModified: FieldName { FieldName(.lastModified) }
  /// `Pragma` (RFC 9111 §5.4).
  public static var pragma: FieldName { FieldName(.pragma) }
  /// `Range` (RFC 9110 §14.2).
  public static var range: FieldName { FieldName(.range) }
  /// `Vary` (RFC 9110 §12.5.5).
  public static var vary: FieldName { FieldName(.vary) }

  /// `Authorization` (RFC 9110 §11.6.2).
  public static var authorization: FieldName { FieldName(.authorization) }
  /// `Cookie` (RFC 6265 §4.2).
  public static var cookie: FieldName { FieldName(.cookie) }
  /// `Proxy-Authenticate` (RFC 9110 §11.7.1).
  public static var proxyAuthenticate: FieldName { FieldName(.proxyAuthenticate) }
  /// `Proxy-Authorization` (RFC 9110 §11.7.2).
  public static var proxyAuthorization: FieldName { FieldName(.proxyAuthorization) }
  /// `Set-Cookie` (RFC 6265 §4.1).
  public static var setCookie: FieldName { FieldName(.setCookie) }
  /// `WWW-Authenticate` (RFC 9110 §11.6.1).
  public static var authenticate: FieldName { FieldName(.authenticate) }

  /// The response fields that decide whether a response is stored and reused, here or by other caches, and those that
  /// make it private.
  public static let ofResponse: [FieldName] = [
    // `Set-Cookie` and the authentication fields are among them, as they show that a response is
    // meant for one user.
    .age, .authenticate, .cacheControl, .contentEncoding, .contentLength, .contentLocation,
    .contentRange, .date, .entityTag, .expires, .lastModified, .pragma, .proxyAuthenticate,
    .setCookie, .vary,
  ]

  /// The request fields that decide the same, except those that `Vary` names.
  public static let ofRequest: [FieldName] = [
    .authorization, .cacheControl, .cookie, .pragma, .proxyAuthorization,
  ]

  /// The fields that freshness and validators depend on (RFC 9111 §4.2, RFC 9110 §8.8).
  public static let ofFreshness = FreshnessField.allCases.map { FieldName($0.known) }
}
