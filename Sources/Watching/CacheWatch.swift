public import Administration
public import Bytes
public import Files
public import ResponseStorage

/// Finds the changes of a cache between two looks at it.
///
/// A look compares all entries with those of the last look, and reads only the changed ones completely. Entries that were
/// stored and removed again meanwhile cannot be seen, but are counted if the cache counts its entries.
public struct CacheWatch {
  private let selection: Selection
  private let awaited: Selection?
  private let projection: Projection
  /// The entries of the last look.
  private var seen: SeenEntries
  /// How many entries the cache had ever had at the last look; `nil` if it does not count them.
  private var everStored: Int64?

  /// What has changed since the beginning.
  public private(set) var tally = ChangeTally()

  /// The largest number of new ids that are looked up one by one.
  private static let mostNewIDs: Int64 = 10_000

  /// How many entries the first look remembers at a time.
  private static let entriesAtOnce = 1_024

  /// Creates a watch.
  ///
  /// - Parameters:
  ///   - selection: The entries whose changes matter.
  ///   - awaited: The entries that are waited for; `nil` for none.
  ///   - projection: What is read of changed entries.
  /// - Throws: An error of a temporary file.
  public init(
    _ selection: Selection, awaited: Selection?, showing projection: Projection
  ) throws(FileError) {
    self.selection = selection
    self.awaited = awaited
    seen = try SeenEntries()
    self.projection = projection.union([
      selection.projection, awaited?.projection ?? [], ResponseFreshness.projection, .url, .key,
      .body, SeenEntry.projection,
    ])
  }

  /// The number of entries at the last look, selected or not.
  public var entryCount: Int64 { seen.count }

  /// Takes a first look, which finds no changes.
  public mutating func begin(at source: any ResponseSource, now: Timestamp) throws {
    everStored = try source.entriesEverStored()
    let selection = try prepared(selection, for: source, among: nil, now)
    let first = try SeenEntries()
    var waiting: [SeenEntry] = []
    try source.scan(
      selection.projection.union([.url, .key, .body]).union(SeenEntry.projection)
    ) { response in
      var entry = SeenEntry(response)
      entry.read(response, isSelected: try selection.contains(response, now: now))
      waiting.append(entry)
      if waiting.count == Self.entriesAtOnce {
        try first.replace([], with: waiting)
        waiting.removeAll(keepingCapacity: true)
      }
      return .next
    }
    try first.replace([], with: waiting)
    seen = first
  }

  /// Begins with a cache that did not exist until now, so that all its entries are new.
  public mutating func beginWithNothing() { everStored = 0 }

  /// Forgets how many entries the cache has counted, because another cache is in its place.
  public mutating func restart() { everStored = nil }

  /// Counts entries that were stored and not seen.
  ///
  /// - Parameter arrivals: How many entries were stored since the beginning, as the system reports it.
  public mutating func noteArrivals(_ arrivals: Int64) {
    tally.missed = max(tally.missed, arrivals - tally.stored)
  }

  /// Looks at the entries with new ids only, which costs little however many entries there are.
  ///
  /// - Returns: Whether that was possible; otherwise all must be looked at.
  public mutating func lookAtNewIDs(
    of source: any ResponseSource, now: Timestamp, _ body: (EntryChange) throws -> Void
  ) throws -> Bool {
    guard let before = everStored, let ever = try source.entriesEverStored(),
      (0...Self.mostNewIDs).contains(ever.subtractingReportingOverflow(before).partialValue),
      ever >= before, before >= 0,
      // A hostile cache can lower its counter, so that entries with such ids are known already.
      try seen.highestID.map({ $0 <= .row(before) }) ?? true
    else { return false }
    guard ever > before else { return true }
    everStored = ever
    var new: [SeenEntry] = []
    try source.forEachResponse(
      of: (before + 1...ever).map { .row($0) }, SeenEntry.projection
    ) {
      new.append(SeenEntry($0))
      return .next
    }
    tally.miss(ever - before - Int64(new.count))
    try read(new, replacedEntries(withKeysOf: new), from: source, now, body)
    return true
  }

  /// Returns the entries that have the keys of new ones, which replace them, by the places of those.
  private func replacedEntries(withKeysOf new: [SeenEntry]) throws(FileError) -> [Int: SeenEntry] {
    var replaced: [Int: SeenEntry] = [:]
    for (place, entry) in new.enumerated() {
      guard let key = entry.key, let earlier = try seen.entries(withKey: key).last else { continue }
      replaced[place] = earlier
    }
    return replaced
  }

  /// Looks at all entries.
  ///
  /// - Parameters:
  ///   - source: The cache; `nil` if there is none any more.
  ///   - body: Is called with each change: first with removed entries, then with others in the order of their ids.
  public mutating func look(
    at source: (any ResponseSource)?, now: Timestamp, _ body: (EntryChange) throws -> Void
  ) throws {
    let comparison = try EntryComparison(of: seen, with: source)
    // If the cache changed meanwhile, this was no state that it ever had.
    try source?.finish()
    count(comparison, try source?.entriesEverStored())
    try seen.replace(comparison.gone.map(\.id), with: [])
    for entry in comparison.gone where entry.isSelected {
      try report(removed: entry, body)
    }
    guard let source else { return }
    try read(comparison.changed, comparison.replaced, from: source, now, body)
  }

  /// Counts the entries that were stored and removed between two looks.
  private mutating func count(_ comparison: EntryComparison, _ ever: Int64?) {
    defer { everStored = ever }
    // The counter is a number in the cache, which can be any.
    guard let before = everStored, let ever, ever > before, before >= 0 else { return }
    let visible = comparison.changed.count {
      if case .row(let row) = $0.id { row > before } else { false }
    }
    tally.miss(ever - before - Int64(visible))
  }

  private mutating func report(
    removed entry: SeenEntry, _ body: (EntryChange) throws -> Void
  ) throws {
    let change = EntryChange(
      kind: .removed, id: entry.id, url: entry.url, size: entry.size, previousID: nil,
      previousSize: nil, response: nil, isAwaited: false)
    tally.insert(change, freshness: nil)
    try body(change)
  }

  /// Reads changed entries, and reports them.
  ///
  /// - Parameters:
  ///   - entries: The entries, in ascending order of their ids.
  ///   - replaced: The entries that they replace, by their places.
  private mutating func read(
    _ entries: [SeenEntry], _ replaced: [Int: SeenEntry], from source: any ResponseSource,
    _ now: Timestamp, _ body: (EntryChange) throws -> Void
  ) throws {
    guard !entries.isEmpty else { return }
    var entries = entries
    let result = Result { try read(&entries, replaced, from: source, now, body) }
    // A file can disappear before it is read, and reading can fail: what was not read is not known, and so is found by
    // the next look.
    var (before, after): ([StoredResponse.ID], [SeenEntry]) = ([], [])
    for (place, entry) in entries.enumerated() {
      if let earlier = replaced[place], entry.isRead || earlier.id != entry.id {
        before.append(earlier.id)
      }
      if entry.isRead { after.append(entry) }
    }
    try seen.replace(before, with: after)
    try result.get()
  }

  private mutating func read(
    _ entries: inout [SeenEntry], _ replaced: [Int: SeenEntry], from source: any ResponseSource,
    _ now: Timestamp, _ body: (EntryChange) throws -> Void
  ) throws {
    let ids = entries.map(\.id)
    let selection = try prepared(selection, for: source, among: ids, now)
    let awaited = try awaited.map { try prepared($0, for: source, among: ids, now) }
    var rest = entries.indices
    try source.forEachResponse(of: ids, projection) { response in
      while let place = rest.first, entries[place].id < response.id { rest.removeFirst() }
      guard let place = rest.popFirst() else { return .stop }
      let isSelected = try selection.contains(response, now: now)
      entries[place].read(response, isSelected: isSelected)
      guard isSelected else { return .next }
      let before = replaced[place]
      let change = EntryChange(
        kind: before == nil ? .added : .replaced, id: response.id,
        url: response.url ?? response.key, size: response.bodySize, previousID: before?.id,
        previousSize: before?.size, response: copy response,
        isAwaited: try awaited?.contains(response, now: now) ?? false)
      tally.insert(
        change, freshness: ResponseFreshness(of: response, at: now, rules: selection.expiryRules))
      try body(change)
      return .next
    }
  }

  /// Returns a selection that is prepared for some entries of a cache.
  ///
  /// - Parameter ids: The entries whose bodies may be read; `nil` for all.
  private func prepared(
    _ selection: Selection, for source: any ResponseSource, among ids: [StoredResponse.ID]?,
    _ now: Timestamp
  ) throws -> Selection {
    guard selection.searchesTexts else { return selection }
    var selection = selection
    // Pins restrict a selection without being named by the user, so that absent ones are no error.
    if let ids { selection.pins = EntryNames(ids.map { .id($0) }) }
    try selection.findTexts(in: source, at: now)
    return selection
  }
}

/// How many changes there were in the last seconds.
public struct ChangeRate: Sendable {
  /// The time over which the rate is an average, in seconds.
  public static let seconds: Int64 = 10

  private var counts: [(second: Int64, changes: Int64)] = []

  /// Creates a rate of zero.
  public init() {}

  /// Counts changes at a time of a monotonic clock.
  public mutating func insert(_ changes: Int64, atMilliseconds time: Int64) {
    let second = time / 1_000
    if counts.last?.second == second {
      counts[counts.count - 1].changes += changes
    } else {
      counts.append((second, changes))
    }
    counts.removeAll { $0.second <= second - Self.seconds }
  }

  /// Returns the changes of the last seconds.
  public func changes(atMilliseconds time: Int64) -> Int64 {
    counts.reduce(0) { $0 + ($1.second > time / 1_000 - Self.seconds ? $1.changes : 0) }
  }
}

/// Counts of the changes of a cache.
public struct ChangeTally: Sendable {
  /// The number of changes of each kind.
  public private(set) var counts: [EntryChange.Kind: Int64] = [:]
  /// The number of entries that were stored, and removed before they could be seen.
  public var missed: Int64 = 0
  /// The size of all stored bodies.
  public private(set) var storedBytes: ByteCount = 0
  /// The size of all removed bodies.
  public private(set) var removedBytes: ByteCount = 0
  /// The number of stored entries by host, and their bytes.
  public private(set) var hosts: [ByteString: (entries: Int64, bytes: ByteCount)] = [:]
  /// The number of stored entries whose hosts are not listed.
  public private(set) var otherHosts: Int64 = 0
  /// The number of stored entries by freshness; unknown freshness is not counted.
  public private(set) var freshness: [ResponseFreshness.State: Int64] = [:]

  /// The largest number of hosts to list.
  private static let mostHosts = 1_000

  /// Creates counts of zero.
  public init() {}

  /// The number of changes of one kind.
  public func count(_ kind: EntryChange.Kind) -> Int64 { counts[kind] ?? 0 }

  /// The number of entries that were added or replaced.
  public var stored: Int64 { count(.added) + count(.replaced) }

  /// The number of all changes.
  public var all: Int64 { stored + count(.removed) }

  /// Counts entries that could not be seen; a negative number counts as none. The sum saturates.
  mutating func miss(_ count: Int64) {
    let (sum, isTooLarge) = missed.addingReportingOverflow(max(0, count))
    missed = isTooLarge ? .max : sum
  }

  /// Counts a change.
  mutating func insert(_ change: EntryChange, freshness state: ResponseFreshness?) {
    counts[change.kind, default: 0] += 1
    guard change.kind != .removed else {
      removedBytes += change.size ?? 0
      return
    }
    storedBytes += change.size ?? 0
    if let state { freshness[state.state, default: 0] += 1 }
    let host = change.url.flatMap(CanonicalURL.host)
    guard let host, hosts.count < Self.mostHosts || hosts[host] != nil else {
      otherHosts += 1
      return
    }
    var sum = hosts[host] ?? (0, 0)
    sum.entries += 1
    sum.bytes += change.size ?? 0
    hosts[host] = sum
  }

  /// The hosts with the most stored entries, in descending order.
  public func busiestHosts(_ limit: Int) -> [(host: ByteString, entries: Int64, bytes: ByteCount)] {
    hosts.map { ($0.key, $0.value.entries, $0.value.bytes) }
      .sorted { $0.1 != $1.1 ? $0.1 > $1.1 : $0.0 < $1.0 }
      .prefix(limit).map { (host: $0.0, entries: $0.1, bytes: $0.2) }
  }
}
