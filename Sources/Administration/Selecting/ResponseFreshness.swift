public import Bytes
public import HTTPCaching
public import ResponseStorage

/// The freshness and validators of a stored response at a given time (RFC 9111 §4.2, RFC 9110 §8.8).
///
/// All commands use this, so that their counts agree.
public struct ResponseFreshness: Hashable, Sendable {
  /// Whether a response is fresh.
  public enum State: String, Hashable, Sendable, CaseIterable {
    /// Its lifetime is greater than its age, and the expiry set by the app has not passed.
    case fresh
    /// Its age is at least its lifetime, which may be 0, or the expiry set by the app has passed.
    case stale
    /// It has no lifetime, not even a heuristic one. Like a stale response it must not be used without validation, but
    /// nothing has expired.
    case noLifetime = "no-lifetime"
  }

  /// A kind of validator.
  public enum ValidatorKind: String, Hashable, Sendable, CaseIterable {
    /// There is no validator.
    case none
    /// There are validators, but no strong one.
    case weak
    /// There is a strong entity tag or a strong `Last-Modified`.
    case strong
    /// There is an entity tag, weak or strong.
    case entityTag = "etag"
    /// There is a `Last-Modified` date, weak or strong.
    case lastModified = "last-modified"
  }

  /// The lifetime and age, with their sources.
  public let freshness: Freshness

  /// The strength of its entity tag; `nil` if there is none.
  public let entityTag: Validators.Strength?

  /// The strength of its `Last-Modified`; `nil` if there is none, or if it is not a date.
  public let lastModified: Validators.Strength?

  /// The expiry set by the app, if there is one.
  public let expiry: UserInfoExpiry?

  private let now: Timestamp

  /// The fields to decode of a response.
  public static let projection: Projection = [
    .freshnessFields, .status, .stored, .userInfo,
  ]

  /// Calculates the freshness of a response; `nil` if its header fields or stored time are unknown.
  ///
  /// A store does not record when a request was sent: the response delay counts as 0.
  ///
  /// - Parameter rules: The expiry rules of the app.
  public init?(
    of response: borrowing StoredResponse, at now: Timestamp,
    rules: [UserInfoExpiry.Rule] = UserInfoExpiry.known
  ) {
    // A scan may decode only the fields for freshness, not all header fields.
    if let fields = response.freshnessFields {
      self.init(fields, response, at: now, rules)
    } else if let stored = response.stored, let headers = response.responseHeaders {
      let fields = FreshnessFields(FieldSection(headers), receivedAt: stored.wholeSeconds)
      self.init(fields, response, at: now, rules)
    } else {
      return nil
    }
  }

  private init(
    _ fields: borrowing FreshnessFields, _ response: borrowing StoredResponse, at now: Timestamp,
    _ rules: [UserInfoExpiry.Rule]
  ) {
    self.init(
      Freshness(of: fields, status: response.status, at: now.wholeSeconds), fields,
      expiry: UserInfoExpiry(of: response.userInfo, by: rules), at: now)
  }

  /// Combines the freshness according to RFC 9111 with the expiry set by the app.
  init(
    _ freshness: Freshness, _ fields: borrowing FreshnessFields, expiry: UserInfoExpiry?,
    at now: Timestamp
  ) {
    self.freshness = freshness
    self.expiry = expiry
    entityTag = fields.entityTagStrength
    lastModified = fields.lastModifiedStrength
    self.now = now
  }

  /// Whether the response is fresh.
  public var state: State {
    // First, as such an app discards the response before anybody looks at its header fields.
    if isExpiredByApplication { return .stale }
    if freshness.lifetime.source == .none { return .noLifetime }
    return freshness.isFresh ? .fresh : .stale
  }

  /// Whether the app discards the response when it finds it.
  public var isExpiredByApplication: Bool { expiry?.isValid(at: now) == false }

  /// The lifetime in seconds, without the expiry set by the app; `nil` if there is none.
  public var lifetimeSeconds: Int64? {
    freshness.lifetime.source == .none ? nil : freshness.lifetime.seconds
  }

  /// The number of seconds for which the response stays fresh, 0 or negative if it is stale; `nil` if it has no
  /// lifetime.
  ///
  /// This may differ from the time until ``expiresAtSeconds``: if the clock was set back to before the response was
  /// received, the response does not age until that time comes again.
  public var remainingSeconds: Int64? {
    if state == .noLifetime { return nil }
    let remaining =
      freshness.isFresh ? freshness.remainingSeconds : -freshness.staleSeconds
    guard let expiry else { return remaining }
    let untilExpiry = expiry.expiresAt.saturatingSubtracting(now.wholeSeconds)
    return lifetimeSeconds == nil ? untilExpiry : min(remaining, untilExpiry)
  }

  /// The time at which the response becomes or became stale, by its lifetime or the expiry set by the app, in seconds
  /// since 1970; `nil` if it has neither.
  public var expiresAtSeconds: Int64? {
    [freshness.expiresAt, expiry?.expiresAt].compactMap { $0 }.min()
  }

  /// ``expiresAtSeconds`` as a timestamp; `nil` also after the year 9999.
  public var expiresAt: Timestamp? {
    expiresAtSeconds.flatMap { Timestamp(secondsSince1970: Double($0)) }
  }

  /// Whether the response is fresh now, and stale after this many seconds.
  public func expires(within seconds: Double) -> Bool {
    state == .fresh && remainingSeconds.map { Double($0) <= seconds } ?? false
  }

  /// Whether the response has this kind of validator.
  public func has(_ kind: ValidatorKind) -> Bool {
    switch kind {
    case .none: entityTag == nil && lastModified == nil
    case .weak: !has(.none) && !has(.strong)
    case .strong: entityTag == .strong || lastModified == .strong
    case .entityTag: entityTag != nil
    case .lastModified: lastModified != nil
    }
  }
}
