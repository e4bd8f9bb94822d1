public import Bytes
import Matching
import ResponseStorage

/// The criteria for selecting entries, as given by options or a rule of the configuration.
///
/// Ages are relative; a ``Selection`` makes them absolute.
@dynamicMemberLookup
public struct SelectionCriteria: Sendable {
  /// The named entries; `nil` if none were requested by name.
  public var names: [EntryNames.Name]?
  /// The criteria that mean the same at any time.
  public var criteria = EntryCriteria()
  /// The age that entries must exceed, in seconds.
  public var olderThan: Double?
  /// The age that entries must not have reached, in seconds.
  public var newerThan: Double?
  /// The time before which entries must be stored.
  public var storedBefore: WrittenTime?
  /// The time after which entries must be stored.
  public var storedAfter: WrittenTime?
  /// The time from which ages count.
  public var ageBasis: AgeBasis?
  /// The expiry rules of the app, without the built-in ones.
  public var expiryRules: [UserInfoExpiry.Rule] = []

  /// Creates criteria that match every response.
  public init() {}

  /// Accesses one of the ``criteria``.
  public subscript<Value>(dynamicMember member: WritableKeyPath<EntryCriteria, Value>) -> Value {
    get { criteria[keyPath: member] }
    set { criteria[keyPath: member] = newValue }
  }

  /// Notes for the user: times that dates stand for, and schemes that look like hosts.
  public var notes: [String] {
    let beginnings =
      criteria.prefixes.compactMap(\.written.string) + criteria.globs.compactMap(\.beginning)
    return [storedBefore?.note, storedAfter?.note].compactMap { $0 }
      + beginnings.compactMap { WrittenValue.schemeNote(about: $0) }
      + criteria.conditions.flatMap(\.notes)
  }

  /// Returns the selection, with ages relative to `now`.
  public func selection(at now: Timestamp) -> Selection {
    var selection = Selection()
    selection.criteria = criteria
    selection.names = names.map { EntryNames($0) }
    selection.ageBasis = ageBasis ?? selection.ageBasis
    let olderBound = olderThan.map { AgeLimit($0, at: now).cutoff }
    let newerBound = newerThan.map { AgeLimit($0, at: now).cutoff }
    // Of two bounds, the stricter one. Each alone would select more than the user asked for.
    selection.before = [olderBound, storedBefore?.time].compactMap { $0 }.min()
    selection.after = [newerBound, storedAfter?.time].compactMap { $0 }.max()
    selection.expiryRules = UserInfoExpiry.rules(adding: expiryRules)
    return selection
  }
}
