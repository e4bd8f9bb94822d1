public import Bytes
public import ResponseStorage

/// The criteria for selecting entries, as given by options or a rule of the configuration.
///
/// Ages are relative; a ``Selection`` makes them absolute.
public struct SelectionCriteria: Sendable {
  /// The named entries; `nil` if none were requested by name.
  public var names: [EntryNames.Name]?
  /// See ``Selection/prefixes``, ``Selection/globs`` and ``Selection/expressions``.
  public var prefixes: [ByteString] = []
  public var globs: [Glob] = []
  public var expressions: [URLExpression] = []
  /// See ``Selection/hosts``; in lowercase.
  public var hosts: [ByteString] = []
  public var parameters: [ParameterCriterion] = []
  public var methods: [ByteString] = []
  public var statuses: [ClosedRange<Int64>] = []
  /// See ``Selection/mimeTypes``; in lowercase.
  public var mimeTypes: [Glob] = []
  /// The age that entries must exceed, in seconds.
  public var olderThan: Double?
  /// The age that entries must not have reached, in seconds.
  public var newerThan: Double?
  public var storedBefore: WrittenTime?
  public var storedAfter: WrittenTime?
  public var ageBasis: AgeBasis?
  /// Sizes of bodies, in bytes.
  public var largerThan: ByteCount?
  public var smallerThan: ByteCount?
  public var bodyLocations: Set<StoredResponse.BodyLocation> = []
  /// See ``Selection/isPartial``.
  public var isPartial = false
  public var partitions: Set<ByteString> = []
  public var storagePolicies: Set<StoredResponse.StoragePolicy> = []
  public var userInfo: [PropertyCriterion] = []
  public var freshness: Set<ResponseFreshness.State> = []
  /// The number of seconds within which a fresh response must become stale.
  public var expiresWithin: Double?
  public var validators: Set<ResponseFreshness.ValidatorKind> = []
  /// The expiry rules of the app, without the built-in ones.
  public var expiryRules: [UserInfoExpiry.Rule] = []
  public var conditions: [Condition] = []
  /// See ``Selection/selectsSuperseded``.
  public var selectsSuperseded = false

  /// Creates criteria that match every response.
  public init() {}

  /// Notes for the user: times that dates stand for, and schemes that look like hosts.
  public var notes: [String] {
    let beginnings = prefixes.compactMap(\.string) + globs.compactMap(\.beginning)
    return [storedBefore?.note, storedAfter?.note].compactMap { $0 }
      + beginnings.compactMap { WrittenValue.schemeNote(about: $0) } + conditions.flatMap(\.notes)
  }

  /// Returns the selection, with ages relative to `now`.
  public func selection(at now: Timestamp) -> Selection {
    var selection = Selection()
    selection.names = names.map { EntryNames($0) }
    selection.prefixes = prefixes
    selection.globs = globs
    selection.expressions = expressions
    selection.hosts = hosts
    selection.parameters = parameters
    selection.methods = methods
    selection.statuses = statuses
    selection.mimeTypes = mimeTypes
    selection.ageBasis = ageBasis ?? selection.ageBasis
    let olderBound = olderThan.map { AgeLimit($0, at: now).cutoff }
    let newerBound = newerThan.map { AgeLimit($0, at: now).cutoff }
    selection.before = [olderBound, storedBefore?.time].compactMap { $0 }.min()
    selection.after = [newerBound, storedAfter?.time].compactMap { $0 }.max()
    selection.largerThan = largerThan
    selection.smallerThan = smallerThan
    selection.bodyLocations = bodyLocations
    selection.isPartial = isPartial
    selection.partitions = partitions
    selection.storagePolicies = storagePolicies
    selection.userInfo = userInfo
    selection.freshness = freshness
    selection.expiresWithin = expiresWithin
    selection.validators = validators
    selection.expiryRules = UserInfoExpiry.rules(adding: expiryRules)
    selection.conditions = conditions
    selection.selectsSuperseded = selectsSuperseded
    return selection
  }
}
