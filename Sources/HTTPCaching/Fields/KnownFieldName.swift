import Bytes

/// A field that this module reads or writes.
///
/// A known name takes one byte: comparing two is cheap, and threads do not contend for a reference count.
enum KnownFieldName: UInt8, Hashable, Sendable, CaseIterable {
  case age
  case authenticate
  case authorization
  case cacheControl
  case connection
  case contentEncoding
  case contentLength
  case contentLocation
  case contentRange
  case cookie
  case date
  case entityTag
  case expires
  case ifModifiedSince
  case ifNoneMatch
  case ifRange
  case lastModified
  case pragma
  case proxyAuthenticate
  case proxyAuthorization
  case range
  case setCookie
  case vary

  /// The name in lower-case ASCII.
  var lowercased: String {
    switch self {
    case .age: "age"
    case .authenticate: "www-authenticate"
    case .authorization: "authorization"
    case .cacheControl: "cache-control"
    case .connection: "connection"
    case .contentEncoding: "content-encoding"
    case .contentLength: "content-length"
    case .contentLocation: "content-location"
    case .contentRange: "content-range"
    case .cookie: "cookie"
    case .date: "date"
    case .entityTag: "etag"
    case .expires: "expires"
    case .ifModifiedSince: "if-modified-since"
    case .ifNoneMatch: "if-none-match"
    case .ifRange: "if-range"
    case .lastModified: "last-modified"
    case .pragma: "pragma"
    case .proxyAuthenticate: "proxy-authenticate"
    case .proxyAuthorization: "proxy-authorization"
    case .range: "range"
    case .setCookie: "set-cookie"
    case .vary: "vary"
    }
  }

  private static let table = NameTable(allCases.map(\.lowercased))

  /// Finds the field with a name, ignoring case; `nil` if it is unknown.
  init?(_ name: Span<UInt8>) {
    guard let candidate = Self.candidate(for: name),
      Self.table.matches(name, at: Int(candidate.rawValue))
    else { return nil }
    self = candidate
  }

  /// The only field whose name has this length and this last letter. One comparison then decides, without hashing.
  private static func candidate(for name: Span<UInt8>) -> Self? {
    // A hostile cache can have a field with an empty name.
    guard name.count > 0 else { return nil }
    return switch (name.count, name[name.count - 1].asciiLowercased) {
    case (3, UInt8(ascii: "e")): .age
    case (4, UInt8(ascii: "e")): .date
    case (4, UInt8(ascii: "g")): .entityTag
    case (4, UInt8(ascii: "y")): .vary
    case (5, UInt8(ascii: "e")): .range
    case (6, UInt8(ascii: "a")): .pragma
    case (6, UInt8(ascii: "e")): .cookie
    case (7, UInt8(ascii: "s")): .expires
    case (8, UInt8(ascii: "e")): .ifRange
    case (10, UInt8(ascii: "e")): .setCookie
    case (10, UInt8(ascii: "n")): .connection
    case (13, UInt8(ascii: "d")): .lastModified
    case (13, UInt8(ascii: "e")): .contentRange
    case (13, UInt8(ascii: "h")): .ifNoneMatch
    case (13, UInt8(ascii: "l")): .cacheControl
    case (13, UInt8(ascii: "n")): .authorization
    case (14, UInt8(ascii: "h")): .contentLength
    case (16, UInt8(ascii: "e")): .authenticate
    case (16, UInt8(ascii: "g")): .contentEncoding
    case (16, UInt8(ascii: "n")): .contentLocation
    case (17, UInt8(ascii: "e")): .ifModifiedSince
    case (18, UInt8(ascii: "e")): .proxyAuthenticate
    case (19, UInt8(ascii: "n")): .proxyAuthorization
    default: nil
    }
  }
}
