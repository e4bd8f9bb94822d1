public import Bytes
public import Matching
public import ResponseStorage

/// The criteria for selecting responses: all must match, each by any of its values.
@dynamicMemberLookup
public struct Selection: Sendable {
  /// The criteria that mean the same at any time.
  public var criteria = EntryCriteria()
  /// The names of responses; `nil` selects all, an empty list selects none.
  public var names: EntryNames?
  /// Matches responses from before this time, by ``ageBasis``, excluding the time itself.
  public var before: Timestamp?
  /// Matches responses from after this time, by ``ageBasis``, excluding the time itself.
  public var after: Timestamp?
  /// The time from which the age of a response counts.
  public var ageBasis = AgeBasis.stored
  /// The expiry rules of the app, which affect ``freshness``.
  public var expiryRules = UserInfoExpiry.known

  /// Matches responses with one of these names; `nil` for all. Unlike with ``names``, absent entries are no error.
  public var pins: EntryNames?

  /// The classes of responses, if an expression needs them; unknown without it.
  public var classes: EntryClasses?

  /// The superseded entries of the cache that the selection was prepared for.
  public private(set) var superseded: SupersededEntries?

  /// Which bodies contain the texts of the criteria, in the cache that the selection was prepared for.
  public private(set) var contents: BodyContents?

  /// Creates a selection of all responses.
  public init() {}

  /// Accesses one of the ``criteria``.
  public subscript<Value>(dynamicMember member: WritableKeyPath<EntryCriteria, Value>) -> Value {
    get { criteria[keyPath: member] }
    set { criteria[keyPath: member] = newValue }
  }

  /// Whether there are no criteria, so that every response is selected.
  public var isEmpty: Bool {
    names == nil && pins == nil && criteria.partitions.isEmpty && criteria.conditions.isEmpty
      && criteria.texts.isEmpty && projection.isEmpty
  }

  /// Reads the cache to find the superseded entries, if those are selected.
  ///
  /// - Throws: The error that the source throws, or `FileError` if a temporary file cannot be used.
  public mutating func findSuperseded(in source: any ResponseSource) throws {
    guard criteria.selectsSuperseded else { return }
    superseded = try SupersededEntries(in: source)
  }

  /// Reads the bodies of the cache for the criteria that search their text, if there are any.
  ///
  /// - Parameter now: The time for evaluating the other criteria.
  /// - Throws: The error that the source throws.
  public mutating func findTexts(in source: any ResponseSource, at now: Timestamp) throws {
    let texts = criteria.allTexts
    guard !texts.isEmpty else { return }
    // Only the bodies of entries are read that match everything else.
    var others = self
    others.criteria.texts = []
    if criteria.conditions.contains(where: { !$0.bodyTexts.isEmpty }) {
      others.criteria.conditions = []
    }
    contents = try BodyContents(of: texts, in: source, others.projection) {
      try others.contains($0, now: now)
    }
  }

  /// Whether a decision needs the text of bodies, so that ``findTexts(in:at:)`` must be called before.
  public var searchesTexts: Bool { !criteria.allTexts.isEmpty }

  /// The fields that ``decision(for:now:)`` needs.
  public var projection: Projection {
    var result = (names?.projection ?? []).union(pins?.projection ?? [])
    if criteria.hasPatterns { result.formUnion([.url, .key]) }
    if !criteria.hosts.isEmpty || !criteria.parameters.isEmpty { result.formUnion(.url) }
    if !criteria.headers.isEmpty { result.formUnion(.responseHeaders) }
    if !criteria.requestHeaders.isEmpty { result.formUnion(.requestHeaders) }
    if !criteria.methods.isEmpty { result.formUnion(.method) }
    if !criteria.statuses.isEmpty { result.formUnion(.status) }
    if !criteria.mimeTypes.isEmpty { result.formUnion(.mimeType) }
    if before != nil || after != nil { result.formUnion(ageBasis.projection) }
    if criteria.largerThan != nil || criteria.smallerThan != nil || !criteria.bodyLocations.isEmpty
    {
      result.formUnion(.body)
    }
    if criteria.isPartial { result.formUnion(BodyCompleteness.projection) }
    if !criteria.partitions.isEmpty || !criteria.storagePolicies.isEmpty {
      result.formUnion(.storage)
    }
    if !criteria.userInfo.isEmpty { result.formUnion(.userInfo) }
    if criteria.asksForFreshness { result.formUnion(ResponseFreshness.projection) }
    if let classes { result.formUnion(classes.projection) }
    // For the marks by which versions were recognized, which reports name.
    if criteria.selectsSuperseded { result.formUnion([.url, .key]) }
    for condition in criteria.conditions {
      result.formUnion(condition.projection(ageBasis: ageBasis))
    }
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
  /// - Throws: ``RegularExpression/Overrun`` if an expression takes too long.
  public func decision(
    for response: borrowing StoredResponse, now: Timestamp
  ) throws(RegularExpression.Overrun) -> Decision {
    // Do not bind the names to a variable: threads would contend for the reference count.
    if names?.contains(response) == false { return .notNamed }
    if pins?.contains(response) == false { return .notSelected }
    // Compare hosts first: an expression may take too long on URLs of other hosts.
    guard criteria.hosts.isEmpty || criteria.matchesHost(response),
      criteria.parameters.isEmpty || criteria.matchesParameter(response)
    else { return .notSelected }
    if criteria.hasPatterns, try !criteria.matchesPattern(response) { return .notSelected }
    guard criteria.matchesMessage(response), criteria.matchesHeaders(response),
      criteria.matchesBody(response), matchesTexts(response),
      criteria.matchesStorage(response),
      !criteria.isPartial || BodyCompleteness(of: response) == .partial
    else { return .notSelected }
    // An unknown time, version or freshness is the result only if everything else matches.
    // Otherwise the notes would count entries that the user did not mean.
    let byVersion = decisionByVersion(of: response)
    if byVersion == .notSelected { return .notSelected }
    let byTime = decisionByTime(for: response, now: now)
    if byTime == .notSelected { return .notSelected }
    let freshness =
      criteria.needsFreshness ? ResponseFreshness(of: response, at: now, rules: expiryRules) : nil
    let byFreshness = decision(by: freshness)
    if byFreshness == .notSelected { return .notSelected }
    let byCondition =
      criteria.conditions.isEmpty
      ? .selected
      : try decisionByCondition(for: response, in: context(of: response, freshness, now))
    if byCondition == .notSelected { return .notSelected }
    if byTime != .selected { return byTime }
    if byVersion != .selected { return byVersion }
    return byFreshness != .selected ? byFreshness : byCondition
  }

  /// Whether the body contains one of the texts.
  private func matchesTexts(_ response: borrowing StoredResponse) -> Bool {
    guard !criteria.texts.isEmpty else { return true }
    // As with `decisionByVersion(of:)`.
    guard let contents else { preconditionFailure("the selection is not prepared") }
    let id = response.id
    return criteria.texts.contains { contents.contains($0, id) ?? false }
  }

  /// Creates the context for evaluating expressions.
  private func context(
    of response: borrowing StoredResponse, _ freshness: ResponseFreshness?, _ now: Timestamp
  ) throws(RegularExpression.Overrun) -> EntryContext {
    var context = EntryContext(now: now, expiryRules: expiryRules)
    (context.ageBasis, context.freshness, context.contents) = (ageBasis, freshness, contents)
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
    // Told apart from other reasons: for a clean-up by age, being too young is the usual one, and
    // reports show it on its own.
    if let before, time >= before { return .tooYoung }
    return .selected
  }

  /// Decides by whether the response is an older version.
  private func decisionByVersion(of response: borrowing StoredResponse) -> Decision {
    guard criteria.selectsSuperseded else { return .selected }
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
  ) throws(RegularExpression.Overrun) -> Bool {
    try decision(for: response, now: now) == .selected
  }

  /// Decides by freshness and validators alone.
  private func decision(by found: ResponseFreshness?) -> Decision {
    guard criteria.asksForFreshness else { return .selected }
    return found.map { criteria.matches($0) ? .selected : .notSelected } ?? .unknownFreshness
  }
}

extension Selection {
  /// Decides by the expressions alone.
  private func decisionByCondition(
    for response: borrowing StoredResponse, in context: EntryContext
  ) -> Decision {
    var result = Decision.notSelected
    for condition in criteria.conditions {
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

/// A host, a media type or a status that a selection names, and that no entry of a store has.
public struct AbsentValue: Hashable, Sendable {
  /// The properties that are compared with those of all entries.
  public enum Property: String, Hashable, Sendable {
    case host, mime, status
  }

  /// The property.
  public let property: Property
  /// The value; of hosts with a dot before it, also the subdomains.
  public let name: String
  /// A similar value in the store, or the domain of some hosts, with a dot before it.
  public let similar: String?
}

extension Selection {
  /// Returns the hosts, media types and statuses that the selection names and no entry of a store has.
  ///
  /// - Complexity: O(*n*), where *n* is the number of entries; reads nothing if the selection names none, or many.
  public func absentValues(in source: any ResponseSource) throws -> [AbsentValue] {
    let (hosts, types, statuses) = (criteria.hosts, criteria.mimeTypes, criteria.statuses)
    // A long list comes from a program, not from a typing error.
    guard 1...20 ~= hosts.count + types.count + statuses.count else { return [] }
    var projection: Projection = []
    if !hosts.isEmpty { projection.insert(.url) }
    if !types.isEmpty { projection.insert(.mimeType) }
    if !statuses.isEmpty { projection.insert(.status) }
    var knownHosts: Set<ByteString> = []
    var knownTypes: Set<ByteString> = []
    var knownStatuses: Set<Int64> = []
    try source.scan(projection) { response in
      if !hosts.isEmpty, knownHosts.count < 100_000,
        let host = response.url.flatMap({ CanonicalURL.comparedHost(of: $0) })
      {
        knownHosts.insert(ByteString(copying: host))
      }
      if !types.isEmpty, knownTypes.count < 10_000, let type = response.mimeType {
        knownTypes.insert(ByteString(copying: type.asciiLowercased))
      }
      if !statuses.isEmpty, knownStatuses.count < 10_000, let status = response.status {
        knownStatuses.insert(status)
      }
      return .next
    }
    let names = knownHosts.sorted().compactMap(\.string)
    let typeNames = knownTypes.sorted().compactMap(\.string)
    var absent: [AbsentValue] = []
    for host in hosts where !knownHosts.contains(where: { host.covers($0) }) {
      absent.append(Self.absence(of: host, among: names))
    }
    for type in types where !knownTypes.contains(where: { type.matches($0) }) {
      let name = type.pattern
      absent.append(
        AbsentValue(
          property: .mime, name: name, similar: Spelling.nearest(to: name, among: typeNames)))
    }
    for range in statuses where !knownStatuses.contains(where: { range.contains($0) }) {
      let (first, last) = (range.lowerBound, range.upperBound)
      absent.append(
        AbsentValue(
          property: .status, name: first == last ? "\(first)" : "\(first)-\(last)", similar: nil))
    }
    return absent
  }

  private static func absence(of host: HostPattern, among names: [String]) -> AbsentValue {
    let name = host.written.string ?? ""
    let isWildcard = name.utf8.starts(with: "*.".utf8)
    let plain = isWildcard ? String(name.dropFirst()) : name
    let domain = plain.utf8.first == UInt8(ascii: ".") ? plain : ".\(plain)"
    let hasSubdomains = names.contains {
      $0.utf8.count > domain.utf8.count
        && $0.utf8.reversed().starts(with: domain.utf8.reversed())
    }
    return AbsentValue(
      property: .host, name: name,
      similar: hasSubdomains ? domain : Spelling.nearest(to: name, among: names))
  }
}
