public import Bytes
public import ResponseStorage

/// Which responses a command is about: all criteria must hold, of the values of one any.
public struct Selection: Sendable {
  /// Only responses that have one of these names; `nil` for all, while an empty list selects none.
  public var names: EntryNames?
  /// The beginnings of URLs, compared by bytes with the URL as stored, or with the key of a response
  /// that has no URL; so are ``globs`` and ``expressions``.
  public var prefixes: [ByteString] = []
  /// Patterns for whole URLs.
  public var globs: [Glob] = []
  /// Regular expressions for whole URLs; they never match one that is not UTF-8.
  public var expressions: [URLExpression] = []
  /// Hosts, in either case; `.example.com` stands for that host and all below it.
  public var hosts: [ByteString] = []
  /// Parameters in the query of the URL.
  public var parameters: [ParameterCriterion] = []
  /// Methods, in either case.
  public var methods: [ByteString] = []
  /// Statuses.
  public var statuses: [ClosedRange<Int64>] = []
  /// Patterns in small letters for media types in either case.
  public var mimeTypes: [Glob] = []
  /// Only what is from before this moment, by ``ageBasis``, and not from the moment itself.
  public var before: Timestamp?
  /// Only what is from after this moment, by ``ageBasis``, and not from the moment itself.
  public var after: Timestamp?
  /// What the time of a response is taken from.
  public var ageBasis = AgeBasis.stored
  /// Only bodies of more than this number of bytes; a missing body has no size and is neither larger
  /// nor smaller.
  public var largerThan: ByteCount?
  /// Only bodies of less than this number of bytes.
  public var smallerThan: ByteCount?
  /// Where the body is.
  public var bodyLocations: Set<StoredResponse.BodyLocation> = []
  /// Cache partitions.
  public var partitions: Set<ByteString> = []
  /// Only responses of whose bodies a part is stored, as ``BodyCompleteness`` has it.
  public var isPartial = false
  /// What `URLCache` may do with the response.
  public var storagePolicies: Set<StoredResponse.StoragePolicy> = []
  /// What the application attached to the response.
  public var userInfo: [PropertyCriterion] = []
  /// Whether a response is fresh.
  public var freshness: Set<ResponseFreshness.State> = []
  /// Only what is fresh and becomes stale within this number of seconds.
  public var expiresWithin: Double?
  /// The expiries of an application's own, which count for ``freshness``.
  public var expiryRules = UserInfoExpiry.known
  /// What a response can be validated with.
  public var validators: Set<ResponseFreshness.ValidatorKind> = []

  /// Only what has one of these names; `nil` for all. Unlike ``names`` it asks for nothing to be there.
  public var pins: EntryNames?

  /// Expressions, of which one must hold.
  public var conditions: [Condition] = []

  /// What rules say of responses, if an expression asks for that; without it, it is not known.
  public var classes: EntryClasses?

  /// Whether only older versions of resources are selected, of which a newer one is stored too.
  ///
  /// That depends on all entries of a cache: ``prepare(for:)`` must be called before any decision.
  public var selectsSuperseded = false
  /// What is superseded in the cache that the selection was prepared for.
  public private(set) var superseded: SupersededEntries?

  /// Creates a selection of all responses.
  public init() {}

  /// Whether no criterion was given, so that every response is selected.
  public var isEmpty: Bool {
    names == nil && pins == nil && partitions.isEmpty && conditions.isEmpty && projection.isEmpty
  }

  /// Finds out what depends on all entries of a cache, if anything does.
  ///
  /// - Throws: What the source throws.
  public mutating func prepare(for source: any ResponseSource) throws {
    if selectsSuperseded { superseded = try SupersededEntries(in: source) }
  }

  /// What a response has to have been decoded for ``decision(for:now:)``.
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

  /// What a selection says of a response.
  public enum Decision: Hashable, Sendable {
    case selected
    /// Responses are named, and this is none of them; the other criteria were not looked at.
    case notNamed
    case notSelected
    /// All else holds, but it is not from before ``Selection/before``.
    case tooYoung
    /// All else holds, but the time of the response is not known: it is not selected.
    case unknownTime
    /// All else holds, but whether the response is fresh is not known: it is not selected.
    case unknownFreshness
  }

  /// Decides on a response.
  ///
  /// - Parameter now: The moment at which a response is fresh or stale, and from which a year of two
  ///   digits is told.
  /// - Throws: ``URLExpression/Overrun`` if it takes too long to find out.
  public func decision(
    for response: borrowing StoredResponse, now: Timestamp
  ) throws(URLExpression.Overrun) -> Decision {
    // Threads that bound the names to a variable would wait for each other to count who holds on to them.
    if names?.contains(response) == false { return .notNamed }
    if pins?.contains(response) == false { return .notSelected }
    // An expression is not tried on URLs of other hosts, on which it may take too long.
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

  /// What expressions are evaluated with.
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

  /// Decides by whether the response is an older version of something.
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

  /// Whether anything that is asked for depends on how fresh a response is.
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
