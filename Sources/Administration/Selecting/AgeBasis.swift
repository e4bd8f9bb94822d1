public import Bytes
import HTTPCaching
public import ResponseStorage

/// The time from which the age of a response counts.
public enum AgeBasis: Hashable, Sendable {
  /// The time at which it was last stored or refreshed.
  case stored
  /// The time at which it was first stored.
  case firstStored
  /// Its `Date` header field.
  case date
  /// Its `Last-Modified` header field.
  case lastModified
  /// A date that the app attached under a key.
  case userInfo(ByteString)

  /// Creates a basis from its name: `stored`, `first-stored`, `date`, `last-modified` or
  /// `user-info:KEY`.
  public init?(name: String) {
    switch name {
    case "stored": self = .stored
    case "first-stored": self = .firstStored
    case "date": self = .date
    case "last-modified": self = .lastModified
    default:
      let prefix = "user-info:"
      guard name.utf8.starts(with: prefix.utf8), name.utf8.count > prefix.utf8.count else {
        return nil
      }
      self = .userInfo(ByteString(Array(name.utf8.dropFirst(prefix.utf8.count))))
    }
  }

  /// The fields that ``time(of:now:)`` needs.
  public var projection: Projection {
    switch self {
    case .stored: .stored
    case .firstStored: .firstStored
    case .date, .lastModified: .responseHeaders
    case .userInfo: .userInfo
    }
  }

  /// Returns the time of a response; `nil` if unknown.
  public func time(of response: borrowing StoredResponse, now: Timestamp) -> Timestamp? {
    switch self {
    case .stored: return response.stored
    case .firstStored: return response.firstStored
    case .date: return Self.date(response.responseHeaders?.firstValue(named: "date"), now)
    case .lastModified:
      return Self.date(response.responseHeaders?.firstValue(named: "last-modified"), now)
    case .userInfo(let key):
      guard case .date(let time) = response.userInfo.value(for: key) else { return nil }
      return time
    }
  }

  private static func date(_ value: ByteString?, _ now: Timestamp) -> Timestamp? {
    value.flatMap {
      // Dates in the format of RFC 850 have two digits for the year. A year more than 50 years
      // ahead of now means the past (RFC 9110 §5.6.7).
      HTTPDate.secondsSince1970($0.bytes, now: now.wholeSeconds)
    }.flatMap { Timestamp(secondsSince1970: Double($0)) }
  }
}
