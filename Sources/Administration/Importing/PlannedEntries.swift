import Files

/// The entries of a plan: as each was decided by itself, changed by the decisions about equal keys.
struct PlannedEntries {
  /// Each entry, as if it were the only one with its key.
  private let entries: SpooledList<ImportPlan.Entry>
  private let decisions: SpooledList<EqualKeys.Decision>

  init(
    _ entries: SpooledList<ImportPlan.Entry>, _ decisions: SpooledList<EqualKeys.Decision> = .init()
  ) {
    (self.entries, self.decisions) = (entries, decisions)
  }

  /// Returns a reader that starts with the first entry.
  func makeReader() throws(FileError) -> Reader {
    try Reader(entries.makeReader(), decisions.makeReader())
  }

  /// Reads the entries, in the order of the archive.
  struct Reader {
    private var entries: SpooledList<ImportPlan.Entry>.Reader
    private var decisions: SpooledList<EqualKeys.Decision>.Reader
    private var decision: EqualKeys.Decision?

    fileprivate init(
      _ entries: SpooledList<ImportPlan.Entry>.Reader,
      _ decisions: SpooledList<EqualKeys.Decision>.Reader
    ) throws(FileError) {
      (self.entries, self.decisions) = (entries, decisions)
      decision = try self.decisions.next()
    }

    /// Returns the next entry; `nil` at the end.
    mutating func next() throws(FileError) -> ImportPlan.Entry? {
      guard var entry = try entries.next() else { return nil }
      guard let decision, decision.number == entry.number else { return entry }
      entry.action = decision.action
      if decision.action == .skip { entry.reason = Self.sameKey }
      self.decision = try decisions.next()
      return entry
    }

    private static let sameKey =
      "the cache cannot distinguish it from a newer entry in the archive"
  }
}
