import Administration
import Bytes
import Rendering
import ResponseStorage

/// A walk over the selected entries, and what it counts.
struct Listing {
  /// Which entries are selected.
  let selection: Selection

  /// The time that everything is evaluated as of.
  let now: Timestamp

  /// After how many entries the walk ends, if it does not go on to look for what is named.
  var limit: Int?

  /// The number of entries that were selected, up to the limit.
  var shown: Int64 = 0

  /// The number of entries that were looked at.
  private(set) var seen: Int64 = 0

  /// The sizes of the bodies of the entries that were selected; at most the largest number.
  var bodyBytes: ByteCount = 0

  /// The number of entries that were not selected only as their time is not known.
  private(set) var unknownTimes = 0

  /// The number of entries that were not selected only as it is not known how fresh they are.
  private(set) var unknownFreshness = 0

  /// What made the selected entries superseded, if only such are selected.
  private(set) var supersededKinds = SupersededKinds()

  /// Whether there may be more entries than were looked at.
  private(set) var wasStopped = false

  /// The names that none of the entries has that were looked at, whether they were selected or not.
  private(set) var absent: EntryNames

  init(selection: Selection, now: Timestamp, limit: Int? = nil) {
    self.selection = selection
    self.now = now
    self.limit = limit
    absent = selection.names ?? EntryNames()
  }

  /// Calls `body` with each selected entry, up to the limit.
  ///
  /// Beyond the limit it goes on until all names were met, so that what is absent does not depend
  /// on the limit.
  mutating func scan(
    _ source: any ResponseSource, _ projection: Projection,
    _ body: (borrowing StoredResponse) throws -> Void
  ) throws {
    if hasReachedLimit, absent.isEmpty {
      wasStopped = true
      return
    }
    guard let ids = selection.names?.idsOnly else {
      return try source.scan(projection) { response in try visit(response, body) }
    }
    wasStopped = true
    for id in ids {
      guard let response = try source.response(id, projection) else { continue }
      if try visit(response, body) == .stop { return }
    }
  }

  private mutating func visit(
    _ response: borrowing StoredResponse, _ body: (borrowing StoredResponse) throws -> Void
  ) throws -> ScanStep {
    seen += 1
    let decision = try selection.decision(for: response, now: now)
    if decision == .notNamed { return .next }
    absent.remove(response)
    if !hasReachedLimit {
      if decision == .unknownTime { unknownTimes += 1 }
      if decision == .unknownFreshness { unknownFreshness += 1 }
      if decision == .selected {
        count(response)
        if selection.selectsSuperseded { supersededKinds.insert(response.url ?? response.key) }
        try body(response)
      }
    }
    guard hasReachedLimit, absent.isEmpty else { return .next }
    wasStopped = true
    return .stop
  }

  /// How many entries are selected in all, also beyond the limit.
  ///
  /// Where the limit ended the walk, another one counts: it decodes only what the selection needs.
  mutating func countSelected(in source: any ResponseSource) throws -> Int64 {
    guard limit != nil, hasReachedLimit else { return shown }
    var all = Listing(selection: selection, now: now)
    try all.scan(source, selection.projection) { _ in }
    (unknownTimes, unknownFreshness) = (all.unknownTimes, all.unknownFreshness)
    return all.shown
  }

  private var hasReachedLimit: Bool { limit.map { shown >= $0 } ?? false }

  /// Counts an entry that is shown.
  mutating func count(_ response: borrowing StoredResponse) {
    shown += 1
    bodyBytes += response.bodySize ?? 0
  }

  /// Counts entries that are shown, all of them that there are.
  mutating func count(_ lines: ListedLines) {
    seen += lines.entries
    shown += lines.entries
    bodyBytes += lines.bodyBytes
  }

  /// Tells the user what was named and is not there, and what could not be decided.
  ///
  /// - Returns: ``ExitStatus/no`` if anything is absent, otherwise ``ExitStatus/done``.
  func report(in environment: CommandEnvironment, _ secrets: SecretPolicy) -> ExitStatus {
    if unknownTimes > 0 {
      environment.note("not selected, as their age is not known: \(unknownTimes)")
    }
    if unknownFreshness > 0 {
      environment.note("not selected, as their freshness is unknown: \(unknownFreshness)")
    }
    environment.note(supersededKinds)
    return environment.report(absent: absent, secrets)
  }
}

extension CommandEnvironment {
  /// Tells the user by which rules entries were taken for superseded, if any were.
  func note(_ kinds: SupersededKinds) {
    if let words = kinds.words { note("superseded \(words)") }
  }

  /// Tells the user which of the named entries are not there, and which are those of another URL.
  ///
  /// Of one of all caches the absent ones are kept, as another may have them.
  ///
  /// - Returns: ``ExitStatus/no`` if any is absent, otherwise ``ExitStatus/done``.
  func report(absent names: EntryNames, _ secrets: SecretPolicy) -> ExitStatus {
    for lookup in names.lookups { note(lookup.words(secrets)) }
    let absences = names.absences(secrets)
    if record.absences != nil {
      record.absences = Array(zip(names.names, absences))
      return .done
    }
    for absence in absences { writeMessage("\(absence)\n") }
    return names.isEmpty ? .done : .no
  }
}
