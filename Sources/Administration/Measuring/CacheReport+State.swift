import Bytes
import ResponseStorage

extension CacheReport.State {
  /// The fields that ``init(of:at:rules:)`` needs.
  static let projection = ResponseFreshness.projection

  /// Creates the state of a response.
  init(of response: borrowing StoredResponse, at now: Timestamp, rules: [UserInfoExpiry.Rule]) {
    guard let freshness = ResponseFreshness(of: response, at: now, rules: rules) else {
      self = .unknown
      return
    }
    switch freshness.state {
    case .fresh: self = .fresh
    case .stale: self = freshness.has(.none) ? .expired : .validatable
    case .noLifetime: self = .noLifetime
    }
  }

  /// Whether the response is past its lifetime.
  public var isStale: Bool { self == .validatable || self == .expired }
}
