public import Bytes
public import HTTPCaching
public import ResponseStorage

/// How fresh a stored response is at a moment, and what it can be validated with (RFC 9111 §4.2,
/// RFC 9110 §8.8).
///
/// Every command judges freshness here, so that their counts agree.
public struct ResponseFreshness: Hashable, Sendable {
  /// Whether a response is fresh.
  public enum State: String, Hashable, Sendable, CaseIterable {
    /// Its lifetime is greater than its age, and the application lets it live.
    case fresh
    /// Its age is at least its lifetime, which may be 0, or the application's own expiry has passed.
    case stale
    /// It has no lifetime, not even by a heuristic. A cache must not use it without validation, like a stale
    /// response, but nothing has expired.
    case noLifetime = "no-lifetime"
  }

  /// A quality of what a response can be validated with.
  public enum ValidatorKind: String, Hashable, Sendable, CaseIterable {
    /// There is nothing to validate it with.
    case none
    /// There is something, but nothing strong.
    case weak
    /// There is a strong entity tag or a strong date.
    case strong
    /// There is an entity tag, of either strength.
    case entityTag = "etag"
    /// There is a date, of either strength.
    case lastModified = "last-modified"
  }

  /// The lifetime and the age, each with what it was calculated from.
  public let freshness: Freshness

  /// How strong its entity tag is, or `nil` if there is none.
  public let entityTag: Validators.Strength?

  /// How strong its `Last-Modified` is, or `nil` if there is none that is a date.
  public let lastModified: Validators.Strength?

  /// The expiry of the application's own, if it attached one.
  public let expiry: UserInfoExpiry?

  private let now: Timestamp

  /// What a response has to have been decoded for this.
  public static let projection: Projection = [
    .freshnessFields, .status, .stored, .userInfo,
  ]

  /// Finds out how fresh a response is; `nil` if its header fields or the time of its storing are not
  /// known.
  ///
  /// A store does not say when a request was sent: the delay of the response counts as 0.
  ///
  /// - Parameter rules: The expiries of an application's own.
  public init?(
    of response: borrowing StoredResponse, at now: Timestamp,
    rules: [UserInfoExpiry.Rule] = UserInfoExpiry.known
  ) {
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

  /// Adds the application's own expiry to what RFC 9111 alone says of a response.
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
    if isExpiredByApplication { return .stale }
    if freshness.lifetime.source == .none { return .noLifetime }
    return freshness.isFresh ? .fresh : .stale
  }

  /// Whether the application drops the response when it finds it.
  public var isExpiredByApplication: Bool { expiry?.isValid(at: now) == false }

  /// The lifetime in seconds, without the application's own expiry; `nil` if there is none.
  public var lifetimeSeconds: Int64? {
    freshness.lifetime.source == .none ? nil : freshness.lifetime.seconds
  }

  /// For how many more seconds the response is fresh, or 0 or less if it is stale; `nil` if it has no
  /// lifetime.
  ///
  /// That is not always the time to ``expiresAtSeconds``: where the clock was set back to before the response
  /// came, it ages only once that moment comes again.
  public var remainingSeconds: Int64? {
    if state == .noLifetime { return nil }
    let remaining =
      freshness.isFresh ? freshness.remainingSeconds : -freshness.staleSeconds
    guard let expiry else { return remaining }
    let untilExpiry = expiry.expiresAt.saturatingSubtracting(now.wholeSeconds)
    return lifetimeSeconds == nil ? untilExpiry : min(remaining, untilExpiry)
  }

  /// When the response becomes or became stale, by its lifetime or by the application's own expiry, in
  /// seconds since 1970; `nil` if it has neither.
  public var expiresAtSeconds: Int64? {
    [freshness.expiresAt, expiry?.expiresAt].compactMap { $0 }.min()
  }

  /// ``expiresAtSeconds`` as a timestamp; `nil` also if that is after the year 9999.
  public var expiresAt: Timestamp? {
    expiresAtSeconds.flatMap { Timestamp(secondsSince1970: Double($0)) }
  }

  /// Whether the response is fresh, and will be stale so many seconds later.
  public func expires(within seconds: Double) -> Bool {
    state == .fresh && remainingSeconds.map { Double($0) <= seconds } ?? false
  }

  /// Whether what the response can be validated with has a quality.
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
