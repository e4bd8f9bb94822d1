public import Bytes
public import ResponseStorage

/// The criteria for selecting responses: all must match, each by any of its values.
public struct Selection: Sendable {
  /// The names of responses; `nil` selects all, an empty list selects none.
  public var names: EntryNames?
  /// URL prefixes, compared by bytes with the stored URL, or with the key if there is no URL; ``globs`` and
  /// ``expressions`` are compared likewise.
  public var prefixes: [ByteString] = []
  /// Patterns for whole URLs.
  public var globs: [Glob] = []
  /// Regular expressions for whole URLs; they never match a URL that is not UTF-8.
  public var expressions: [URLExpression] = []
  /// Hosts, ignoring case; `.example.com` matches that host and all its subdomains.
  public var hosts: [ByteString] = []
  /// Query parameters of the URL.
  public var parameters: [ParameterCriterion] = []
  /// Methods, ignoring case.
  public var methods: [ByteString] = []
  /// Statuses.
  public var statuses: [ClosedRange<Int64>] = []
  /// Lowercase patterns for media types, which match in any case.
  public var mimeTypes: [Glob] = []
  /// Matches responses from before this time, by ``ageBasis``, excluding the time itself.
  public var before: Timestamp?
  /// Matches responses from after this time, by ``ageBasis``, excluding the time itself.
  public var after: Timestamp?
  /// The time from which the age of a response counts.
  public var ageBasis = AgeBasis.stored
  /// Matches bodies larger than this number of bytes; a missing body is neither larger nor smaller.
  public var largerThan: ByteCount?
  /// Matches bodies smaller than this number of bytes.
  public var smallerThan: ByteCount?
  /// The locations of bodies.
  public var bodyLocations: Set<StoredResponse.BodyLocation> = []
  /// Cache partitions.
  public var partitions: Set<ByteString> = []
  /// Whether to match only partial bodies, as defined by ``BodyCompleteness``.
  public var isPartial = false
  /// The storage policies of responses.
  public var storagePolicies: Set<StoredResponse.StoragePolicy> = []
  /// The required properties in `userInfo`.
  public var userInfo: [PropertyCriterion] = []
  /// The freshness of responses.
  public var freshness: Set<ResponseFreshness.State> = []
  /// Matches fresh responses that become stale within this number of seconds.
  public var expiresWithin: Double?
  /// The expiry rules of the app, which affect ``freshness``.
  public var expiryRules = UserInfoExpiry.known
  /// The kinds of validators of responses.
  public var validators: Set<ResponseFreshness.ValidatorKind> = []

  /// Matches responses with one of these names; `nil` for all. Unlike with ``names``, absent entries are no error.
  public var pins: EntryNames?

  /// Expressions, one of which must match.
  public var conditions: [Condition] = []

  /// The classes of responses, if an expression needs them; unknown without it.
  public var classes: EntryClasses?

  /// Whether to match only older versions of resources that are also stored in a newer version.
  ///
  /// This depends on all entries of a cache: call ``prepare(for:)`` before any decision.
  public var selectsSuperseded = false
  /// The superseded entries of the cache that the selection was prepared for.
  public private(set) var superseded: SupersededEntries?

  /// Creates a selection of all responses.
  public init() {}

  /// Whether there are no criteria, so that every response is selected.
  public var isEmpty: Bool {
    names == nil && pins == nil && partitions.isEmpty && conditions.isEmpty && projection.isEmpty
  }

  /// Reads the cache for the criteria that depend on all its entries, if there are any.
  ///
  /// - Throws: The error that the source throws.
  public mutating func prepare(for source: any ResponseSource) throws {
    if selectsSuperseded { superseded = try SupersededEntries(in: source) }
  }

  /// The fields that ``decision(for:now:)`` needs.
  public var projection: Projection {
    var result = (names?.projection ?? []).union(pins?.projection ?? [])
    if hasPatterns { result.formUnion([.url, .key]) }
    if !hosts.isEmpty || !parameters.isEmpty { result.formUnion(.url) }
    if !methods.isEmpty { result.formUnion(.method) }
    if !statuses.isEmpty { result.formUnion(.status) }
    if !mimeTypes.isEmpty { result.formUnion(.mimeType) }
    if before != nil || after != nil { result.formUnion(ageBasis.projection) }
    if largerThan != nil || smallerThan != nil || !bodyLocations.isEmpty { result.formUnion(.body) }
    if isPartial { result.formUnion(BodyCompleteness.projection) }
    if !partitions.isEmpty || !storagePolicies.isEmpty { result.formUnion(.storage) }
    if !userInfo.isEmpty { result.formUnion(.userInfo) }
    if asksForFreshness { result.formUnion(ResponseFreshness.projection) }
    if let classes { result.formUnion(classes.projection) }
    if selectsSuperseded { result.formUnion(SupersededEntries.stateProjection) }
    for condition in conditions { result.formUnion(condition.projection(ageBasis: ageBasis)) }
    return result
  }

  /// The decision of a selection about a response.
  public enum Decision: Hashable, Sendable {
    case selected
    /// The response is not among the named ones; other criteria were not checked.
    case notNamed
    case notSelected
    /// Everything else matches, but it is not from before ``Selection/before``.
    case tooYoung
    /// Everything else matches, but the time of the response is unknown: it is not selected.
    case unknownTime
    /// Everything else matches, but the freshness of the response is unknown: it is not selected.
    case unknownFreshness
  }

  /// Decides about a response.
  ///
  /// - Parameter now: The time at which a response is fresh or stale, and relative to which two-digit years are
  ///   resolved.
  /// - Throws: ``URLExpression/Overrun`` if an expression takes too long.
  public func decision(
    for response: borrowing StoredResponse, now: Timestamp
  ) throws(URLExpression.Overrun) -> Decision {
    // Do not bind the names to a variable: threads would contend for the reference count.
    if names?.contains(response) == false { return .notNamed }
    if pins?.contains(response) == false { return .notSelected }
    // Compare hosts first: an expression may take too long on URLs of other hosts.
    guard hosts.isEmpty || matchesHost(response),
      parameters.isEmpty || matchesParameter(response)
    else { return .notSelected }
    if hasPatterns, try !matchesPattern(response) { return .notSelected }
    guard matchesMessage(response), matchesBody(response),
      partitions.isEmpty || response.partition.map({ partitions.contains($0) }) ?? false,
      storagePolicies.isEmpty || response.storagePolicy.map(storagePolicies.contains) ?? false,
      userInfo.isEmpty || userInfo.contains(where: { $0.holds(in: response.userInfo) }),
      !isPartial || BodyCompleteness(of: response) == .partial
    else { return .notSelected }
    let byVersion = decisionByVersion(of: response)
    if byVersion == .notSelected { return .notSelected }
    let byTime = decisionByTime(for: response, now: now)
    if byTime == .notSelected { return .notSelected }
    let freshness =
      needsFreshness ? ResponseFreshness(of: response, at: now, rules: expiryRules) : nil
    let byFreshness = decision(by: freshness)
    if byFreshness == .notSelected { return .notSelected }
    let byCondition =
      conditions.isEmpty
      ? .selected
      : try decisionByCondition(for: response, in: context(of: response, freshness, now))
    if byCondition == .notSelected { return .notSelected }
    if byTime != .selected { return byTime }
    if byVersion != .selected { return byVersion }
    return byFreshness != .selected ? byFreshness : byCondition
  }

  /// Creates the context for evaluating expressions.
  private func context(
    of response: borrowing StoredResponse, _ freshness: ResponseFreshness?, _ now: Timestamp
  ) throws(URLExpression.Overrun) -> ConditionContext {
    var context = ConditionContext(now: now, ageBasis: ageBasis, freshness: freshness)
    guard let classes else { return context }
    context.entryClass = try classes.name(of: response)
    context.isRevalidationDue = try classes.rules.revalidation(of: response)?.isDue
    return context
  }

  /// Decides by ``before`` and ``after`` alone.
  private func decisionByTime(
    for response: borrowing StoredResponse, now: Timestamp
  ) -> Decision {
    guard before != nil || after != nil else { return .selected }
    guard let time = ageBasis.time(of: response, now: now) else { return .unknownTime }
    if let after, time <= after { return .notSelected }
    if let before, time >= before { return .tooYoung }
    return .selected
  }

  /// Decides by whether the response is an older version.
  private func decisionByVersion(of response: borrowing StoredResponse) -> Decision {
    guard selectsSuperseded else { return .selected }
    // Each command prepares its selection or refuses the option, so this cannot be reached from a command line. A new
    // command that forgot it would select nothing or everything, which is worse than to end.
    guard let superseded else { preconditionFailure("the selection is not prepared") }
    return switch superseded.state(of: response) {
    case .superseded: .selected
    case .current: .notSelected
    case .unknownTime: .unknownTime
    }
  }

  /// Whether a response is selected: ``decision(for:now:)`` without the reason.
  public func contains(
    _ response: borrowing StoredResponse, now: Timestamp
  ) throws(URLExpression.Overrun) -> Bool {
    try decision(for: response, now: now) == .selected
  }

  private var asksForFreshness: Bool {
    !freshness.isEmpty || expiresWithin != nil || !validators.isEmpty
  }

  /// Whether any criterion depends on freshness.
  private var needsFreshness: Bool {
    asksForFreshness || conditions.contains(where: \.needsFreshness)
  }

  /// Decides by freshness and validators alone.
  private func decision(by found: ResponseFreshness?) -> Decision {
    guard asksForFreshness else { return .selected }
    return found.map { matches($0) ? .selected : .notSelected } ?? .unknownFreshness
  }

  private func matches(_ found: ResponseFreshness) -> Bool {
    (freshness.isEmpty || freshness.contains(found.state))
      && (expiresWithin.map { found.expires(within: $0) } ?? true)
      && (validators.isEmpty || validators.contains { found.has($0) })
  }
}

extension Selection {
  /// Decides by ``conditions`` alone.
  private func decisionByCondition(
    for response: borrowing StoredResponse, in context: ConditionContext
  ) -> Decision {
    var result = Decision.notSelected
    for condition in conditions {
      let truth = condition.truth(of: response, in: context)
      if truth == true { return .selected }
      guard truth == nil, result == .notSelected else { continue }
      if condition.lacksTime(of: response, in: context) {
        result = .unknownTime
      } else if context.freshness == nil, condition.needsFreshness {
        result = .unknownFreshness
      }
    }
    return result
  }
}
