import Administration
import Bytes
import Files
import Querying
import Rendering
import ResponseArchives
import ResponseStorage

/// A scan of the selected entries, with counts.
struct Listing {
  /// The selection.
  let selection: Selection

  /// The time for all evaluations.
  let now: Timestamp

  /// The number of entries to show; the scan continues after them only to look for named entries.
  var limit: Int?

  /// The number of selected entries, up to the limit.
  var shown: Int64 = 0

  /// The number of scanned entries.
  private(set) var seen: Int64 = 0

  /// The total size of the bodies of selected entries, in bytes, if they were requested.
  var bodyBytes: ByteCount = 0

  /// The number of entries that were not selected because their time is unknown.
  private(set) var unknownTimes = 0

  /// The number of entries that were not selected because their freshness is unknown.
  private(set) var unknownFreshness = 0

  /// The kinds of version marks of superseded entries, if only those are selected.
  private(set) var supersededKinds = SupersededKinds()

  /// Whether the scan ended early, so that there may be more entries.
  private(set) var wasStopped = false

  /// The requested names that no scanned entry has, selected or not.
  private(set) var absent: EntryNames

  init(selection: Selection, now: Timestamp, limit: Int? = nil) {
    self.selection = selection
    self.now = now
    self.limit = limit
    absent = selection.names ?? EntryNames()
  }

  /// Calls `body` with each selected entry, up to the limit.
  ///
  /// Beyond the limit, the scan continues until all names are found, so that the limit does not affect which names are
  /// reported as absent.
  mutating func scan(
    _ source: any ResponseSource, _ projection: Projection,
    _ body: (borrowing StoredResponse) throws -> Void
  ) throws {
    if hasReachedLimit, absent.isEmpty {
      wasStopped = true
      return
    }
    // Look ids up directly, instead of scanning the whole cache.
    guard let ids = selection.names?.idsOnly else {
      // Starting threads and filling their batches takes longer than reading a page of entries.
      if selection.isEmpty, let limit, limit <= 1_000 {
        return try source.scanFirst(projection) { response in try visit(response, body) }
      }
      return try source.scan(projection) { response in try visit(response, body) }
    }
    wasStopped = true
    try source.forEachResponse(of: ids, projection) { response in try visit(response, body) }
  }

  /// Counts the selected entries, and decodes nothing that the selection does not need.
  mutating func countSelected(in source: any ResponseSource) throws {
    // The index of an archive has the number of its entries, and does not have the entries.
    guard selection.isEmpty, limit == nil, !source.description.traits.isCache else {
      return try scan(source, selection.projection) { _ in }
    }
    shown = try source.count()
    seen = shown
  }

  /// Calls `body` with each selected entry and its body.
  mutating func scanWithBodies(
    _ source: any ResponseSource, _ projection: Projection,
    _ body: (borrowing StoredResponse, ScannedBody) throws -> Void
  ) throws {
    guard let ids = selection.names?.idsOnly else {
      return try source.scanWithBodies(projection) { response, content in
        try visit(response) { try body($0, content) }
      }
    }
    wasStopped = true
    try source.forEachResponseWithBody(of: ids, projection) { response, content in
      try visit(response) { try body($0, content) }
    }
  }

  /// Works on each selected entry and its body, on several threads.
  ///
  /// - Parameter receive: Takes the results, in the order of the entries.
  mutating func work<Work: EntryWork>(
    on source: any ResponseSource, _ projection: Projection, _ batches: EntryBatches<Work>,
    _ receive: (EntryWorkResult<Work>) throws -> Void
  ) throws {
    // Names are looked up, and the versions of files are counted, in one place.
    if selection.names == nil, !selection.selectsSuperseded {
      let work = SelectedWork(batches.initialWork, on: selection, at: now)
      let wasDone = try source.work(projection, with: work) { result in
        switch result {
        case .part(let part): try receive(.part(part))
        case .summary(let summary):
          count(summary.counts)
          try receive(.summary(summary.work))
        }
      }
      if wasDone { return }
    }
    try scanWithBodies(source, projection) {
      try batches.add($0, $1, receive)
    }
    try batches.finish(receive)
  }

  private mutating func count(_ counts: SelectionCounts) {
    seen += counts.seen
    shown += counts.selected
    unknownTimes += counts.unknownTimes
    unknownFreshness += counts.unknownFreshness
  }

  /// Calls `body` with each selected entry and its body, and decodes `projection` for those only.
  ///
  /// An archive is read once: to find an entry again, it would be read from its beginning.
  mutating func scanSelected(
    _ source: any ResponseSource, _ projection: Projection,
    _ body: (borrowing StoredResponse, ScannedBody) throws -> Void
  ) throws {
    guard !source.description.traits.isCache else {
      var ids = SortedIDs(isDescending: false)
      try scan(source, selection.projection) { try ids.insert(EntryPlace(.unknown, $0.id)) }
      while case let next = try ids.removeFirst(1_024), !next.isEmpty {
        // The app may have removed some since the ids were collected.
        try source.forEachResponseWithBody(of: next, projection) {
          try body($0, $1)
          return .next
        }
      }
      return
    }
    if selection.names?.idsOnly != nil {
      return try scanWithBodies(source, projection.union(selection.projection), body)
    }
    var step = ScanStep.next
    try source.forEachRawResponse(selection.projection) { response in
      var isSelected = false
      step = try visit(response) { _ in isSelected = true }
      return isSelected
    } _: { raw in
      try body(StoredResponse(decoding: raw, projection), ScannedBody(of: raw))
      return step
    }
  }

  /// Adds the rows of the selected entries to tables.
  ///
  /// - Parameter verify: Called often, to throw an error that ends the scan.
  mutating func fill<Target: EntryRowTarget & ~Copyable>(
    _ target: inout Target, from source: any ResponseSource, verify: () throws -> Void
  ) throws {
    let projection = selection.projection.union(target.projection)
    guard selection.isEmpty, limit == nil else {
      return try scan(source, projection) { response in
        try target.insert(response)
        try verify()
      }
    }
    // Without a selection, the threads that read the store can decode the values, too.
    let request = ScanRequest(projection, in: .ascending, byteLimit: 1 << 18)
    try source.scan(request, into: target.emptyRows) { rows in
      seen += rows.entries
      shown += rows.entries
      try target.insert(&rows)
      try verify()
      return .next
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

  /// Returns the list of all selected entries, even beyond the limit; `nil` if this is that list.
  ///
  /// If the limit ended the scan, a second scan counts; it only decodes what the selection needs.
  mutating func withoutLimit(in source: any ResponseSource) throws -> Listing? {
    guard limit != nil, hasReachedLimit else { return nil }
    var all = Listing(selection: selection, now: now)
    try all.scan(source, selection.projection) { _ in }
    (unknownTimes, unknownFreshness) = (all.unknownTimes, all.unknownFreshness)
    return all
  }

  private var hasReachedLimit: Bool { limit.map { shown >= $0 } ?? false }

  /// Counts a shown entry.
  mutating func count(_ response: borrowing StoredResponse) {
    shown += 1
    if response.decoded.contains(.body) { bodyBytes += response.bodySize ?? 0 }
  }

  /// Counts shown entries, if all entries are shown.
  mutating func count(_ lines: ListedLines) {
    seen += lines.entries
    shown += lines.entries
    bodyBytes += lines.bodyBytes
  }

  /// Counts entries that are all selected.
  mutating func countSelected(_ entries: Int64) {
    seen += entries
    shown += entries
  }

  /// Reports absent names, and entries for which the selection was undecided.
  ///
  /// - Returns: ``ExitStatus/no`` if a name is absent, otherwise ``ExitStatus/done``.
  func report(in environment: CommandEnvironment, _ secrets: SecretPolicy) -> ExitStatus {
    if unknownTimes > 0 {
      environment.note("entries not selected because their age is unknown: \(unknownTimes)")
    }
    if unknownFreshness > 0 {
      environment.note(
        "entries not selected because their freshness is unknown: \(unknownFreshness)")
    }
    environment.note(supersededKinds)
    return environment.report(absent: absent, secrets)
  }
}

extension CommandEnvironment {
  /// Reports names that no entry has.
  func reportAbsences(_ sentences: [String]) {
    for sentence in sentences {
      writeMessage(messageStyle.text("error:", as: .error) + " \(sentence)\n")
    }
  }

  /// Reports which named entries are absent, and which belong to another URL.
  ///
  /// In a run for all caches, absent names are only recorded, because another cache may have them.
  ///
  /// - Returns: ``ExitStatus/no`` if a name is absent, otherwise ``ExitStatus/done``.
  func report(absent names: EntryNames, _ secrets: SecretPolicy) -> ExitStatus {
    for lookup in names.lookups { note(lookup.words(secrets)) }
    let absences = names.absences(secrets)
    if record.absences != nil {
      record.absences = Array(zip(names.names, absences))
      // Of a list of URLs for all caches, hardly any cache has all.
      return .done
    }
    reportAbsences(absences)
    if names.names.contains(where: \.looksLikePattern) {
      hint("'*' in a URL is literal; for a pattern use '--glob'")
    }
    return names.isEmpty ? .done : .no
  }
}

extension EntryNames.Name {
  /// Whether the name is a URL with `*`, as in patterns.
  var looksLikePattern: Bool {
    if case .url(let url) = self { url.bytes.contains(UInt8(ascii: "*")) } else { false }
  }
}

/// Rendered entries, one per line.
struct ListedLines: ResponseTally {
  private let renderer: any LineRenderer

  /// The number of entries.
  private(set) var entries: Int64 = 0
  /// The total size of their bodies, in bytes.
  private(set) var bodyBytes: ByteCount = 0
  /// The lines.
  private(set) var text = TextBuffer()

  /// Creates an empty tally.
  init(_ renderer: any LineRenderer) {
    self.renderer = renderer
  }

  // As much as is written at once, so that memory does not grow with the list.
  var isFull: Bool { text.bytes.count >= 1 << 16 }

  mutating func insert(_ response: borrowing StoredResponse) {
    entries += 1
    bodyBytes += response.bodySize ?? 0
    renderer.render(response, into: &text)
  }

  mutating func removeAll() {
    (entries, bodyBytes) = (0, 0)
    text.removeAll(keepingCapacity: true)
  }
}

extension Listing {
  /// The most entries that are counted for people. This takes a millisecond, and all of a million twenty, which is
  /// longer than reading a page of them.
  private static let mostCounted: Int64 = 20_000

  /// Returns the summary of the list.
  ///
  /// - Parameters:
  ///   - sorted: The number of selected entries if they were sorted, for which all were read.
  ///   - exact: Whether to count all entries of the store, however long that takes.
  mutating func summary(
    of source: any ResponseSource, sorted: Int64?, exact: Bool
  ) throws -> ListSummary {
    var summary = ListSummary(
      shown: shown, selected: sorted ?? shown, total: seen, bodyBytes: bodyBytes)
    var hasSeenAll = !wasStopped
    if sorted == nil, !selection.isEmpty, let all = try withoutLimit(in: source) {
      (summary.selected, summary.total, hasSeenAll) = (all.shown, all.seen, !all.wasStopped)
    }
    if !hasSeenAll {
      let most = max(Self.mostCounted, summary.selected)
      let count = try exact ? source.count() : source.count(upTo: most)
      summary.total = count ?? most
      summary.hasUncounted = count == nil
    }
    if selection.isEmpty { summary.selected = summary.total }
    return summary
  }
}

extension CommandEnvironment {
  /// Reports by which version marks entries are superseded, if any are.
  func note(_ kinds: SupersededKinds) {
    guard let words = kinds.words else { return }
    note("superseded entries, by how their versions were recognized: \(words)")
  }
}
