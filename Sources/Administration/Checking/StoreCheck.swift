public import Bytes
public import ResponseStorage

/// A check of a whole store, with the plan of what a repair removes.
public struct StoreCheck {
  /// How to check.
  public struct Options: Sendable {
    /// Whether to check everything, however long that takes.
    public var fully: Bool
    /// The kinds of repair to plan.
    public var repairs: Set<Finding.Repair>
    /// The time that stored times are compared with.
    public var now: Timestamp
    /// The system time, for the age of files.
    public var clock: Timestamp
    /// Rules; entries that match ``EntryRule/Fate/never`` or ``EntryRule/Fate/memoryOnly`` are findings.
    public var rules: EntryRules

    /// Creates options.
    public init(
      fully: Bool, repairs: Set<Finding.Repair>, now: Timestamp, clock: Timestamp,
      rules: EntryRules = EntryRules()
    ) {
      self.rules = rules
      self.fully = fully
      self.repairs = repairs
      self.now = now
      self.clock = clock
    }
  }

  /// The number of findings of each severity.
  public private(set) var counts: [Finding.Severity: Int64] = [:]

  /// The kinds of repair that would remove something, whether planned or not.
  public private(set) var repairable: Set<Finding.Repair> = []

  /// Whether SQLite finds the database damaged.
  public private(set) var isDamaged = false

  /// Whether damage ended the reading of entries.
  public private(set) var isCut = false

  /// The descriptions of damage that were reported.
  private var damage: Set<String> = []

  /// What a repair removes.
  public internal(set) var plan: RemovalPlan

  /// The entries to remove that were found so far, and the id of the last one.
  private var planned: RemovalPlan.EntryList.Writer
  private var lastPlanned: StoredResponse.ID?

  /// Entries without their body, found while another process has the store open: it may have just removed them, the
  /// body file after the row that was already read.
  public private(set) var suspects: [Suspect] = []

  /// The result of the comparison with a folder of sidecars, if there was one.
  public private(set) var sidecars: SidecarCheck?

  /// A finding to check again.
  public struct Suspect: Sendable {
    let finding: Finding
    let entry: RemovalPlan.Entry
  }

  let options: Options

  /// Checks a store: first as a whole, then its responses in the order of their ids.
  ///
  /// Memory grows with the number of body files.
  ///
  /// - Parameter report: Called with each finding.
  /// - Throws: ``StoreError`` if there is no store to check, or the error that `report` throws.
  public init(
    of source: any ResponseSource, _ options: Options, _ report: (Finding) throws -> Void
  ) throws {
    self.options = options
    plan = RemovalPlan(of: source.description)
    planned = RemovalPlan.EntryList.Writer()
    // A search for damage reads the whole store, so entries are read at the same time. Their findings wait for those of
    // the search.
    let search = source.searchForDamage(fully: options.fully)
    var waiting = search.map { _ in WaitingEntries() }
    if search == nil { try checkStore(source, after: nil, &waiting, report) }
    do {
      try checkEntries(of: source, after: search, &waiting, report)
      if planned.count > 0 || !plan.isEmpty { plan.footprint = try source.footprint() }
    } catch let error as StoreError where error.code == .damaged {
      // Damage may only show in the middle of the scan. Report it as a finding, along with those before it.
      isCut = true
      let count = plan.storedEntries
      try record(
        .init(
          .damagedDatabase,
          "reading stopped after \(count) \(count == 1 ? "entry" : "entries"): "
            + (error.reason ?? "the next one is unreadable")), report)
    }
    plan.entries = try planned.finish()
  }

  /// Checks the store as a whole, and then reports the findings on entries that have waited for it.
  private mutating func checkStore(
    _ source: any ResponseSource, after search: DamageSearch?, _ waiting: inout WaitingEntries?,
    _ report: (Finding) throws -> Void
  ) throws {
    let entries = waiting.take()
    try source.forEachFinding(fully: options.fully, now: options.clock, after: search) { finding in
      try record(finding, report)
    }
    try entries?.forEach { try record([$0], inUse: source.description.inUse, report) }
  }

  private mutating func checkEntries(
    of source: any ResponseSource, after search: DamageSearch?, _ waiting: inout WaitingEntries?,
    _ report: (Finding) throws -> Void
  ) throws {
    let empty = CheckTally(EntryCheck(now: options.now, clock: options.clock), options.rules)
    let inUse = source.description.inUse
    do {
      // In ascending order: findings are reported, and entries planned, in the order of ids.
      try source.scan(ScanRequest(empty.projection, in: .ascending), into: empty) { tally in
        plan.storedEntries += tally.responses
        if waiting != nil { search?.insert(bodyFiles: tally.bodyFiles) }
        if waiting?.isFull == false, tally.overrun == nil {
          for checked in tally.checked { waiting?.append(checked) }
        } else {
          if waiting != nil { try checkStore(source, after: search, &waiting, report) }
          try record(tally.checked, inUse: inUse, report)
        }
        if let overrun = tally.overrun { throw overrun }
        tally.removeAll()
        return .next
      }
    } catch {
      // The store is checked even if its entries cannot be read to the end.
      if waiting != nil { try checkStore(source, after: search, &waiting, report) }
      throw error
    }
    guard waiting != nil else { return }
    search?.finishBodyFiles()
    try checkStore(source, after: search, &waiting, report)
  }

  /// Counts and reports the findings on entries, and plans their repair.
  private mutating func record(
    _ checked: [CheckTally.Checked], inUse: Bool, _ report: (Finding) throws -> Void
  ) throws {
    for response in checked {
      if let finding = response.byRule { try record(finding, report) }
      for finding in response.findings {
        try record(finding, on: response.entry, inUse: inUse, report)
      }
    }
  }

  /// Counts and reports the finding on an entry, and plans its repair.
  private mutating func record(
    _ finding: Finding, on entry: RemovalPlan.Entry?, inUse: Bool,
    _ report: (Finding) throws -> Void
  ) throws {
    // It is not known whether CFNetwork writes the row or the body file first. While the app is
    // running, a missing body may appear a moment later, so it counts only if a second look in
    // a later state of the store still misses it. With a rollback journal, only the age of the entry tells.
    if let entry, inUse || isRecent(entry),
      finding.code == StoredResponse.Note.Code.missingBodyFile.finding
    {
      suspects.append(.init(finding: finding, entry: entry))
      return
    }
    try record(finding, report)
    guard let entry, let reason = reason(for: finding) else { return }
    // The findings of an entry follow each other, so comparing with the last one is enough.
    guard lastPlanned != entry.version.id else { return }
    lastPlanned = entry.version.id
    try planned.append(entry.removed(because: reason))
  }

  /// Whether an app may just be storing an entry.
  private func isRecent(_ entry: RemovalPlan.Entry) -> Bool {
    let limit = AgeLimit(FileVersion.youth, at: options.clock)
    return entry.version.stored.map { limit.isNotReached(by: $0) } ?? false
  }

  /// Checks the suspects again, in a later state of the store.
  public mutating func confirm(
    in source: any ResponseSource, _ report: (Finding) throws -> Void
  ) throws {
    var confirmed: [RemovalPlan.Entry] = []
    for suspect in exchange(&suspects, with: []) {
      // An entry that was removed or stored again since is no suspect any more.
      guard let response = try source.response(suspect.entry.version.id, EntryCheck.projection),
        RemovalPlan.Entry(of: response, at: nil).version == suspect.entry.version,
        response.notes.contains(where: { $0.code == .missingBodyFile })
      else { continue }
      try record(suspect.finding, report)
      if let reason = reason(for: suspect.finding),
        confirmed.last?.version.id != suspect.entry.version.id
      {
        confirmed.append(suspect.entry.removed(because: reason))
      }
    }
    // Suspects are in the order in which entries were read: of ids.
    plan.entries = try plan.entries.merging(.init(confirmed))
    if !plan.isEmpty { plan.footprint = try source.footprint() }
  }

  /// Compares the store with a folder of sidecars, after the repairs of the store are planned.
  public mutating func checkSidecars(
    of folder: SidecarFolder, with source: any ResponseSource, naming: SidecarNaming?,
    _ report: (Finding) throws -> Void
  ) throws {
    let options = SidecarCheck.Options(
      naming: naming, repairs: options.repairs.contains(.sidecars), removing: plan.entries,
      clock: options.clock)
    let check = try SidecarCheck(of: folder, with: source, options) { try record($0, report) }
    sidecars = check
  }

  /// Whether there are no errors or warnings.
  public var isClean: Bool { counts[.error, default: 0] + counts[.warning, default: 0] == 0 }

  /// Creates a check without findings.
  init(_ options: Options, of store: StoreDescription) {
    self.options = options
    plan = RemovalPlan(of: store)
    planned = RemovalPlan.EntryList.Writer()
  }

  /// Counts a finding, and reports it.
  mutating func record(_ finding: Finding, _ report: (Finding) throws -> Void) throws {
    // Several checks find the same damage.
    if finding.code == .damagedDatabase, !damage.insert(finding.message).inserted { return }
    counts[finding.code.severity, default: 0] += 1
    if finding.code == .damagedDatabase { isDamaged = true }
    // A young file has no repair yet: an app may be about to store its entry.
    if let repair = finding.code.repair,
      finding.orphan != nil || finding.id != nil || repair == .sidecars
    {
      repairable.insert(repair)
    }
    if let orphan = finding.orphan, options.repairs.contains(.orphans) {
      plan.orphans.append(orphan)
    }
    try report(finding)
  }

  private func reason(for finding: Finding) -> RemovalPlan.Reason? {
    guard let repair = finding.code.repair, options.repairs.contains(repair) else { return nil }
    return switch repair {
    case .rows: .missingRow
    case .bodies: .missingBody
    case .undecodable: .undecodable
    // These are no entries.
    case .orphans, .sidecars: nil
    }
  }
}

extension RemovalPlan.Entry {
  /// Returns the entry with the reason why it is removed.
  fileprivate func removed(because reason: RemovalPlan.Reason) -> Self {
    var entry = self
    entry.reason = reason
    return entry
  }
}

extension Finding.Code {
  static let offlineMissing = Self(
    "offline-missing", .error, "the app gets nothing for this URL when offline")
  static let offlineUnusable = Self(
    "offline-unusable", .error, "the app gets nothing, or only part of the body, when offline")
  static let offlineStale = Self(
    "offline-stale", .warning,
    "offline, the app gets it only if its request policy accepts stale data")
  static let offlineOtherURL = Self(
    "offline-other-url", .warning, "the app gets the response stored for a different URL")
}

extension StoreCheck {
  /// Checks only whether a store has a usable entry for each of the given URLs.
  ///
  /// An entry matches a URL as the store looks it up: by the URL or the key in an Apple store, and by the key, which
  /// has neither scheme nor query, in a Foundation store. It is usable if no finding keeps the app from getting all of
  /// it, and if it is fresh or has no lifetime. Of several entries for a URL the best one counts.
  ///
  /// - Parameter report: Called with each finding, in the order of the URLs.
  /// - Complexity: O(*n* + *m*) time, where *n* is the number of entries and *m* the number of URLs; memory grows with
  ///   *m*.
  public init(
    offlineSet urls: [ByteString], of source: any ResponseSource, _ options: Options,
    _ report: (Finding) throws -> Void
  ) throws {
    self.init(options, of: source.description)
    var set = OfflineSet(urls)
    // Few entries match a URL of the set. Only those are read again with everything that the checks
    // need.
    try source.scan(OfflineSet.projection) { response in
      plan.storedEntries += 1
      set.find(response)
      return .next
    }
    let check = EntryCheck(now: options.now, clock: options.clock)
    let projection = EntryCheck.projection.union(ResponseFreshness.projection)
    for (url, ids) in set.entries {
      var best = Finding(.offlineMissing, "no entry for this URL", url: url)
      for (number, id) in ids.enumerated() {
        guard let response = try source.response(id, projection) else { continue }
        guard let finding = check.finding(on: response, offlineFor: url) else {
          best.code = .offlineUsable
          break
        }
        // A warning is better than an error, because the app then gets at least something.
        if number == 0 || finding.code.severity == .warning { best = finding }
      }
      if best.code != .offlineUsable { try record(best, report) }
    }
  }
}

extension Finding.Code {
  /// A marker for a usable entry; never reported.
  fileprivate static let offlineUsable = Self("offline-usable", .note, "")
}

/// URLs with the entries that match them.
private struct OfflineSet {
  static let projection: Projection = [.url, .key]

  /// The URLs without duplicates, in the order given.
  private(set) var entries: [(url: ByteString, ids: [StoredResponse.ID])] = []
  private var placesByURL: [ByteString: Int] = [:]
  private var placesByKey: [ByteString: [Int]] = [:]

  init(_ urls: [ByteString]) {
    for url in urls where placesByURL[CanonicalURL.of(url)] == nil {
      placesByURL[CanonicalURL.of(url)] = entries.count
      if let key = FoundationKey(of: url) {
        placesByKey[key.text, default: []].append(entries.count)
      }
      entries.append((url, []))
    }
  }

  /// Adds a response to the URLs that it matches.
  mutating func find(_ response: borrowing StoredResponse) {
    let id = response.id
    if let key = response.foundationKey {
      for place in placesByKey[key.text] ?? [] { entries[place].ids.append(id) }
    } else if case .file = id, response.key == nil {
      // `URLCache` does not find it under any URL, so it is of no use offline.
    } else {
      // After a redirect, URL and key differ, and an app may request either.
      for place in Set([place(of: response.url), place(of: response.key)].compactMap(\.self)) {
        entries[place].ids.append(id)
      }
    }
  }

  private func place(of url: ByteString?) -> Int? {
    url.flatMap { placesByURL[CanonicalURL.of($0)] }
  }
}

extension EntryCheck {
  /// Returns what keeps an app from using an entry for a URL while offline; `nil` if nothing does.
  fileprivate func finding(
    on response: borrowing StoredResponse, offlineFor url: ByteString
  ) -> Finding? {
    // Other findings, such as `no-store`, do not keep the app from getting the body offline.
    let blocking = findings(on: response).filter {
      $0.code.severity == .error || $0.code == .partialBody
    }
    if let finding = blocking.first {
      return Finding(.offlineUnusable, finding.message, id: response.id, url: url)
    }
    // The key of a Foundation store has no query, so the store answers with whatever was stored
    // last for the path.
    if let names = EntryNames([.url(url)]).lookup(of: response), !names.isRedirected {
      let message =
        names.differsByQuery
        ? "its entry was stored with a different query" : "its entry was stored for a different URL"
      return Finding(.offlineOtherURL, message, id: response.id, url: url)
    }
    // A response without a lifetime is no finding: Foundation on Linux was seen to use such a
    // response for ever, and Apple's heuristic is not documented.
    let freshness = ResponseFreshness(of: response, at: now, rules: UserInfoExpiry.known)
    guard freshness?.state == .stale else { return nil }
    return Finding(.offlineStale, "its entry is stale", id: response.id, url: url)
  }
}
