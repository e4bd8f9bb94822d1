import Bytes
import Files
import ResponseArchives
import SQLite

/// Decides about entries of an archive that have the same key in the cache: the one that was stored last is imported, as
/// the cache would have kept that.
///
/// Keys that differ in the archive can be equal in the cache: Foundation's has neither scheme nor query.
struct EqualKeys {
  /// An entry with a key in the cache.
  struct Candidate: ScratchRow {
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
  struct Decision: ScratchRow, Equatable {
    /// Its number in the archive.
    var number: Int64
    /// The action.
    var action: ImportPlan.Action
  }

  private let rule: ImportConflictRule
  private var candidates = Scratch.Sort<Candidate>(keys: 2)
  private var decisions = Scratch.Sort<Decision>()
  /// The first entry that has the key of an earlier entry to import, if the rule forbids that.
  private(set) var conflict: Int64?

  /// - Parameter rule: What the import does with conflicts.
  init(_ rule: ImportConflictRule) { self.rule = rule }

  /// Adds an entry. Entries must be added in their order.
  mutating func insert(_ candidate: Candidate) throws(FileError) {
    try candidates.insert(candidate, by: candidate.key.scratchKeys)
  }

  /// Removes all entries, and returns the decisions in the order of their numbers. An entry without one is not affected by
  /// the others.
  mutating func removeAll() throws(FileError) -> Scratch.List<Decision> {
    var rest = try candidates.removeAll()
    var next = try rest.next()
    while let first = next { next = try decide(from: first, &rest) }
    var sorted = try decisions.removeAll()
    var list = Scratch.List<Decision>.Writer()
    while let decision = try sorted.next() { try list.append(decision) }
    return try list.finish()
  }

  /// Decides about the entries with the key of `first`, and returns the first entry with another key.
  private mutating func decide(
    from first: Candidate, _ rest: inout Scratch.Reader<Candidate>
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
        try decide(entry, .skip)
      } else {
        try decide(earlier, .skip)
        best = entry
        best?.action = earlier.action
        isChanged = true
      }
    }
    if let best, isChanged { try decide(best, best.action) }
    return next
  }

  private mutating func decide(
    _ entry: Candidate, _ action: ImportPlan.Action
  ) throws(FileError) {
    try decisions.insert(
      Decision(number: entry.number, action: action), by: .integer(entry.number))
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

/// Finds keys that several entries of an archive have.
struct RepeatedKeys {
  /// The key of an entry.
  private struct Key: ScratchRow {
    var digest: TextDigest
    var number: Int64

    init(_ digest: TextDigest, of number: Int64) { (self.digest, self.number) = (digest, number) }

    func pack(into values: inout PackedValues) {
      values.append(digest: digest)
      values.append(number)
    }

    init(from reader: inout PackedReader) throws(PackedReader.Failure) {
      digest = try reader.digest()
      number = try reader.number()
    }
  }

  private var keys = Scratch.Sort<Key>(keys: 2)

  /// Adds the key of an entry. Entries must be added in their order.
  mutating func insert(_ digest: TextDigest, of number: Int64) throws(FileError) {
    try keys.insert(Key(digest, of: number), by: digest.scratchKeys)
  }

  /// Removes all keys, and returns the number of the first entry that has the key of an earlier one.
  mutating func removeAll() throws(FileError) -> Int64? {
    var keys = try keys.removeAll()
    var (earlier, first): (TextDigest?, Int64?) = (nil, nil)
    while let key = try keys.next() {
      if key.digest == earlier { first = min(first ?? key.number, key.number) }
      earlier = key.digest
    }
    return first
  }
}

extension TextDigest {
  /// Whether the digest comes before another one, in any fixed order.
  func precedes(_ other: TextDigest) -> Bool { (high, low) < (other.high, other.low) }
}

/// The entries of a plan: as each was decided by itself, changed by the decisions about equal keys.
struct PlannedEntries {
  /// Each entry, as if it were the only one with its key.
  private let entries: Scratch.List<ImportPlan.Entry>
  private let decisions: Scratch.List<EqualKeys.Decision>

  init(
    _ entries: Scratch.List<ImportPlan.Entry>,
    _ decisions: Scratch.List<EqualKeys.Decision> = .init()
  ) {
    (self.entries, self.decisions) = (entries, decisions)
  }

  /// Returns a reader that starts with the first entry.
  func makeReader() throws(FileError) -> Reader {
    try Reader(entries.makeReader(), decisions.makeReader())
  }

  /// Reads the entries, in the order of the archive.
  struct Reader {
    private var entries: Scratch.Reader<ImportPlan.Entry>
    private var decisions: Scratch.Reader<EqualKeys.Decision>
    private var decision: EqualKeys.Decision?

    fileprivate init(
      _ entries: Scratch.Reader<ImportPlan.Entry>,
      _ decisions: Scratch.Reader<EqualKeys.Decision>
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
