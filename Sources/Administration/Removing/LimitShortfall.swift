public import Bytes
public import ResponseStorage

/// The limits that a cache cannot meet, and the causes.
public struct LimitShortfall: Hashable, Sendable {
  /// A cause that keeps a limit from being met.
  public enum Cause: String, Hashable, Sendable, CaseIterable {
    /// Orphans that another process may be writing.
    case youngOrphans = "young-orphans"
    /// Body files that CFNetwork did not create.
    case foreignFiles = "foreign-files"
    /// The log of a database that another process has open.
    case log
    /// Entries that are not selected.
    case notSelected = "not-selected"
    /// Entries that rules keep.
    case keptByRule = "kept-by-rule"
    /// Pinned entries.
    case pinned
    /// Entries whose paths are no regular files.
    case notARegularFile = "not-a-regular-file"
    /// The database without the bodies.
    case database
    /// Everything else on the file system.
    case fileSystem = "file-system"
  }

  /// A cause, with its size.
  public struct Blocker: Hashable, Sendable {
    /// What it is.
    public var cause: Cause
    /// The number of entries or files; `nil` if they cannot be counted.
    public var count: Int64?
    /// The size on disk, in bytes; of entries, the size of their bodies.
    public var bytes: ByteCount

    /// Creates a blocker.
    public init(_ cause: Cause, count: Int64? = nil, bytes: ByteCount) {
      (self.cause, self.count, self.bytes) = (cause, count, bytes)
    }
  }

  /// The limits that cannot be met.
  public var unmet: [UnmetLimit]
  /// The causes, in the order of ``Cause``.
  public var blockers: [Blocker]

  /// Creates an empty shortfall.
  public init() { (unmet, blockers) = ([], []) }

  /// Finds the causes.
  ///
  /// - Parameters:
  ///   - plan: A plan that removes everything that may be removed, and lists what it keeps.
  ///   - survey: The orphans of the cache.
  public init(_ unmet: [UnmetLimit], of plan: RemovalPlan, _ survey: OrphanSurvey) {
    self.unmet = unmet
    blockers = []
    let footprint = plan.footprint
    let limitsRoom = unmet.contains { $0.kind != .entries }
    // These are no space in use, but the file system lacks their room.
    let limitsFree = unmet.contains { $0.kind == .bytesToFree }
    if limitsFree {
      add(.youngOrphans, count: survey.young.files, bytes: survey.young.bytes)
      add(.foreignFiles, count: survey.foreign.files, bytes: survey.foreign.bytes)
    }
    for (cause, reasons) in Self.entryCauses {
      let sums = reasons.compactMap { plan.kept[$0] }
      let bytes = sums.reduce(0 as ByteCount) { $0 + $1.bodyBytes }
      let count = sums.reduce(0 as Int64) { $0 + $1.entries }
      if count > 0 { blockers.append(Blocker(cause, count: count, bytes: bytes)) }
    }
    // With a limit near the size of an empty database, everything else is only a part of the
    // reason.
    let isTiny = unmet.contains {
      $0.kind == .bytes && ByteCount($0.limit) < footprint.emptyBytes * 2
    }
    if limitsRoom, plan.store.traits.hasDatabase, isTiny || blockers.isEmpty {
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

/// A limit that a cache cannot meet.
public struct UnmetLimit: Hashable, Sendable {
  /// The quantity that is limited.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// The size on disk.
    case bytes = "max-size"
    /// The number of entries.
    case entries = "max-entries"
    /// The free space on the file system.
    case bytesToFree = "min-free"
  }

  /// The quantity that is limited.
  public var kind: Kind
  /// The limit: bytes, entries, or bytes to free.
  public var limit: Int64
  /// The best reachable value in the same unit, or a bound for it.
  public var reachable: Int64

  /// Creates a limit that is not met.
  public init(kind: Kind, limit: Int64, reachable: Int64) {
    (self.kind, self.limit, self.reachable) = (kind, limit, reachable)
  }
}
