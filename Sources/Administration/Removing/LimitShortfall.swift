public import Bytes
public import ResponseStorage

/// The limits that a cache cannot meet, and what prevents it.
public struct LimitShortfall: Hashable, Sendable {
  /// What prevents a limit from being met.
  public enum Cause: String, Hashable, Sendable, CaseIterable {
    /// Body files that no entry refers to and that another process may be writing.
    case youngOrphans = "young-orphans"
    /// Body files that CFNetwork does not make.
    case foreignFiles = "foreign-files"
    /// The log of a database that another process has open.
    case log
    /// Entries that are not selected.
    case notSelected = "not-selected"
    /// Entries that rules keep.
    case keptByRule = "kept-by-rule"
    /// Entries that are pinned.
    case pinned
    /// Entries whose files are no regular files.
    case notARegularFile = "not-a-regular-file"
    /// What a database takes up besides the bodies of entries.
    case database
    /// All else that is on the file system.
    case fileSystem = "file-system"
  }

  /// One thing that prevents it.
  public struct Blocker: Hashable, Sendable {
    /// What it is.
    public var cause: Cause
    /// How many entries or files it is; `nil` if they cannot be counted.
    public var count: Int64?
    /// What it takes up, in bytes; of entries, their bodies.
    public var bytes: ByteCount

    /// Creates a blocker.
    public init(_ cause: Cause, count: Int64? = nil, bytes: ByteCount) {
      (self.cause, self.count, self.bytes) = (cause, count, bytes)
    }
  }

  /// The limits.
  public var unmet: [UnmetLimit]
  /// What prevents it, in the order of ``Cause``.
  public var blockers: [Blocker]

  /// Creates a shortfall of nothing.
  public init() { (unmet, blockers) = ([], []) }

  /// Finds out what prevents it.
  ///
  /// - Parameters:
  ///   - plan: A plan that removes all that may be removed, with what it keeps.
  ///   - survey: The files of the cache that no entry refers to.
  public init(_ unmet: [UnmetLimit], of plan: RemovalPlan, _ survey: OrphanSurvey) {
    self.unmet = unmet
    blockers = []
    let footprint = plan.footprint
    let limitsRoom = unmet.contains { $0.kind != .entries }
    if limitsRoom, plan.store.format.hasDatabase {
      add(.youngOrphans, count: survey.young.files, bytes: survey.young.bytes)
      add(.foreignFiles, count: survey.foreign.files, bytes: survey.foreign.bytes)
    }
    if limitsRoom, plan.store.inUse {
      // There may be no log yet, and then the removal makes one.
      blockers.append(Blocker(.log, bytes: footprint.walBytes + footprint.shmBytes))
    }
    for (cause, reasons) in Self.entryCauses {
      let sums = reasons.compactMap { plan.kept[$0] }
      let bytes = sums.reduce(0 as ByteCount) { $0 + $1.bodyBytes }
      let count = sums.reduce(0 as Int64) { $0 + $1.entries }
      if count > 0 { blockers.append(Blocker(cause, count: count, bytes: bytes)) }
    }
    let isTiny = unmet.contains {
      $0.kind == .bytes && ByteCount($0.limit) < footprint.emptyBytes * 2
    }
    if limitsRoom, plan.store.format.hasDatabase, isTiny || blockers.isEmpty {
      add(.database, bytes: footprint.emptyBytes)
    }
    if let room = unmet.first(where: { $0.kind == .bytesToFree }) {
      add(.fileSystem, bytes: max(0, ByteCount(room.limit) - ByteCount(room.reachable)))
    }
  }

  private static let entryCauses: KeyValuePairs<Cause, [KeepReason]> = [
    .notSelected: [.notSelected, .tooYoung, .unknownAge, .unknownFreshness],
    .keptByRule: [.keptByRule],
    .pinned: [.pinned],
    .notARegularFile: [.notARegularFile],
  ]

  private mutating func add(_ cause: Cause, count: Int64? = nil, bytes: ByteCount) {
    if bytes > 0 { blockers.append(Blocker(cause, count: count, bytes: bytes)) }
  }
}
