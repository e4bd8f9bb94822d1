public import Administration
public import Bytes
public import JSON
public import ResponseStorage

// Plans in tests have few entries, and need no other folder.
private let folder = "/tmp"

extension RemovalPlan {
  public init(
    removing selection: Selection, from source: any ResponseSource, now: Timestamp,
    measuringKept: Bool = true
  ) throws {
    try self.init(
      removing: selection, from: source, now: now, measuringKept: measuringKept,
      temporaryFolder: folder)
  }

  public init(
    enforcing limits: CacheLimits, on source: any ResponseSource, among selection: Selection,
    by rules: EntryRules = EntryRules(), now: Timestamp
  ) throws {
    try self.init(
      enforcing: limits, on: source, among: selection, by: rules, now: now,
      temporaryFolder: folder)
  }
}

extension RemovalPlan.EntryList {
  public init(_ entries: some Sequence<RemovalPlan.Entry>) throws {
    try self.init(entries, in: folder)
  }

  /// All entries, in memory.
  public var array: [RemovalPlan.Entry] {
    get throws {
      var array: [RemovalPlan.Entry] = []
      try forEach { array.append($0) }
      return array
    }
  }

  /// The ids of all entries.
  public var ids: [StoredResponse.ID] { get throws { try array.map(\.version.id) } }
}

extension SavedPlan {
  public init(reading json: inout JSONReader) throws {
    try self.init(reading: &json, temporaryFolder: folder)
  }
}
