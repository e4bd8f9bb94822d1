import Bytes
import Files
import ResponseArchives

/// Decides about entries of an archive that have the same key in the cache: the one that was stored last is imported, as
/// the cache would have kept that.
///
/// Keys that differ in the archive can be equal in the cache: Foundation's has neither scheme nor query.
struct EqualKeys {
  /// An entry with a key in the cache.
  struct Candidate: Spoolable {
    /// Its key.
    var key: TextDigest
    /// Its number in the archive.
    var number: Int64
    /// What would happen to it without the other entries.
    var action: ImportPlan.Action
    /// The time at which it was last stored, according to the archive.
    var archived: Timestamp?
  }

  /// What happens to an entry because of the others.
  struct Decision: Spoolable, Equatable {
    /// Its number in the archive.
    var number: Int64
    /// The action.
    var action: ImportPlan.Action
  }

  private let temporaryFolder: String
  private let rule: ImportConflictRule
  private var candidates: SpooledSort<Candidate>
  private var decisions: SpooledSort<Decision>
  /// The first entry that has the key of an earlier entry to import, if the rule forbids that.
  private(set) var conflict: Int64?

  /// - Parameters:
  ///   - rule: What the import does with conflicts.
  ///   - temporaryFolder: The folder for unnamed files, which many entries need.
  init(_ rule: ImportConflictRule, temporaryFolder: String) {
    (self.rule, self.temporaryFolder) = (rule, temporaryFolder)
    candidates = SpooledSort(in: temporaryFolder) { $0.key.precedes($1.key) }
    decisions = SpooledSort(in: temporaryFolder) { $0.number < $1.number }
  }

  /// Adds an entry. Entries must be added in their order.
  mutating func insert(_ candidate: Candidate) throws(FileError) {
    try candidates.insert(candidate)
  }

  /// Removes all entries, and returns the decisions in the order of their numbers. An entry without one is not affected by
  /// the others.
  mutating func removeAll() throws(FileError) -> SpooledList<Decision> {
    var rest = try candidates.removeAll()
    var next = try rest.next()
    while let first = next { next = try decide(from: first, &rest) }
    var sorted = try decisions.removeAll()
    var list = SpooledList<Decision>.Writer(in: temporaryFolder)
    while let decision = try sorted.next() { try list.append(decision) }
    return try list.finish()
  }

  /// Decides about the entries with the key of `first`, and returns the first entry with another key.
  private mutating func decide(
    from first: Candidate, _ rest: inout MergedRuns<Candidate>
  ) throws(FileError) -> Candidate? {
    var next: Candidate? = first
    // The entry to import so far.
    var best: Candidate?
    var isChanged = false
    while let entry = next, entry.key == first.key {
      next = try rest.next()
      guard let earlier = best else {
        if entry.action.isWritten { best = entry }
        continue
      }
      if rule == .error {
        conflict = min(conflict ?? entry.number, entry.number)
      } else if entry.isOlder(than: earlier) {
        try decisions.insert(Decision(number: entry.number, action: .skip))
      } else {
        try decisions.insert(Decision(number: earlier.number, action: .skip))
        best = entry
        best?.action = earlier.action
        isChanged = true
      }
    }
    if let best, isChanged {
      try decisions.insert(Decision(number: best.number, action: best.action))
    }
    return next
  }
}

extension EqualKeys.Candidate {
  /// Whether the entry was stored before an earlier one of the archive; an entry without a time was stored before one with
  /// a time.
  fileprivate func isOlder(than earlier: Self) -> Bool {
    guard let time = earlier.archived else { return false }
    return archived.map { $0 < time } ?? true
  }

  func pack(into values: inout PackedValues) {
    values.append(digest: key)
    values.append(number)
    values.append(choice: action)
    values.append(archived) { $0.append(time: $1) }
  }

  init(from reader: inout PackedReader) throws(PackedReader.Failure) {
    key = try reader.digest()
    number = try reader.number()
    action = try reader.choice()
    archived = try reader.optional { reader throws(PackedReader.Failure) in try reader.time() }
  }
}

extension EqualKeys.Decision {
  func pack(into values: inout PackedValues) {
    values.append(number)
    values.append(choice: action)
  }

  init(from reader: inout PackedReader) throws(PackedReader.Failure) {
    number = try reader.number()
    action = try reader.choice()
  }
}
