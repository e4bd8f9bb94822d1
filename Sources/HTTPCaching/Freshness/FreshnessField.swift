/// A response header field that determines freshness or is a validator (RFC 9111 §4.2, RFC 9110 §8.8).
public enum FreshnessField: Int, Hashable, Sendable, CaseIterable {
  /// `Age` (RFC 9111 §5.1).
  case age
  /// `Cache-Control` (RFC 9111 §5.2).
  case cacheControl
  /// `Date` (RFC 9110 §6.6.1).
  case date
  /// `ETag` (RFC 9110 §8.8.3).
  case entityTag
  /// `Expires` (RFC 9111 §5.3).
  case expires
  /// `Last-Modified` (RFC 9110 §8.8.2).
  case lastModified

  /// The name in lowercase ASCII.
  public var lowercased: String { known.lowercased }

  var known: KnownFieldName {
    switch self {
    case .age: .age
    case .cacheControl: .cacheControl
    case .date: .date
    case .entityTag: .entityTag
    case .expires: .expires
    case .lastModified: .lastModified
    }
  }

  init?(_ name: KnownFieldName) {
    switch name {
    case .age: self = .age
    case .cacheControl: self = .cacheControl
    case .date: self = .date
    case .entityTag: self = .entityTag
    case .expires: self = .expires
    case .lastModified: self = .lastModified
    default: return nil
    }
  }
}
