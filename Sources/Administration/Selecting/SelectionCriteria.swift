public import Bytes
public import ResponseStorage

/// What entries are selected by, as options or a rule of the configuration give it.
///
/// Ages are not counted from any moment yet: that is what makes a ``Selection``.
public struct SelectionCriteria: Sendable {
  /// The entries that are named; `nil` if none are asked for by name.
  public var names: [EntryNames.Name]?
  /// As of ``Selection/prefixes``, ``Selection/globs`` and ``Selection/expressions``.
  public var prefixes: [ByteString] = []
  public var globs: [Glob] = []
  public var expressions: [URLExpression] = []
  /// As of ``Selection/hosts``, in small letters.
  public var hosts: [ByteString] = []
  public var parameters: [ParameterCriterion] = []
  public var methods: [ByteString] = []
  public var statuses: [ClosedRange<Int64>] = []
  /// As of ``Selection/mimeTypes``, in small letters.
  public var mimeTypes: [Glob] = []
  /// The least age, in seconds.
  public var olderThan: Double?
  /// The age that must not be reached, in seconds.
  public var newerThan: Double?
  public var storedBefore: WrittenTime?
  public var storedAfter: WrittenTime?
  public var ageBasis: AgeBasis?
  /// Sizes of bodies, in bytes.
  public var largerThan: ByteCount?
  public var smallerThan: ByteCount?
  public var bodyLocations: Set<StoredResponse.BodyLocation> = []
  /// As of ``Selection/isPartial``.
  public var isPartial = false
  public var partitions: Set<ByteString> = []
  public var storagePolicies: Set<StoredResponse.StoragePolicy> = []
  public var userInfo: [PropertyCriterion] = []
  public var freshness: Set<ResponseFreshness.State> = []
  /// Within how many seconds a fresh response becomes stale.
  public var expiresWithin: Double?
  public var validators: Set<ResponseFreshness.ValidatorKind> = []
  /// The expiries of an application's own, without those that are known of old.
  public var expiryRules: [UserInfoExpiry.Rule] = []
  public var conditions: [Condition] = []
  /// As of ``Selection/selectsSuperseded``.
  public var selectsSuperseded = false

  /// Creates criteria that every response meets.
  public init() {}

  /// What to tell the user about them: days that are taken as moments, and schemes that look like hosts.
  public var notes: [String] {
    let beginnings = prefixes.compactMap(\.string) + globs.compactMap(\.beginning)
    return [storedBefore?.note, storedAfter?.note].compactMap { $0 }
      + beginnings.compactMap { WrittenValue.schemeNote(about: $0) } + conditions.flatMap(\.notes)
  }

  /// The selection, with ages counted up to a moment.
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
