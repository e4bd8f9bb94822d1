public import Bytes
public import Files
public import ResponseStorage
import SQLite

extension RemovalPlan {
  /// The entries of a plan, in ascending order of ids.
  ///
  /// There may be millions, so most of them are in an unnamed file, and only the totals in memory.
  public struct EntryList {
    private var entries = Scratch.List<Entry>()
    private var totals = Totals()

    /// The totals of a list.
    fileprivate struct Totals {
      var bodyBytes: ByteCount = 0
      var fileBytes: ByteCount = 0
      var space = SpaceInUse()
      var causes: [(reason: Reason, isByRule: Bool, count: Int)] = []
      var largest: [Entry] = []
    }

    /// The most entries in ``largest``.
    private static let mostLargest = 10

    /// Creates an empty list.
    public init() {}

    /// The number of entries.
    public var count: Int { entries.count }

    /// Whether there are no entries.
    public var isEmpty: Bool { entries.isEmpty }

    /// The total size of the bodies, in bytes.
    public var bodyBytes: ByteCount { totals.bodyBytes }

    /// The total size of the files, in bytes: the space that their removal frees at once.
    public var fileBytes: ByteCount { totals.fileBytes }

    /// All entries.
    var all: KeptEntries { KeptEntries(entries: Int64(count), bodyBytes: bodyBytes) }

    /// The space that they take, if that was measured.
    var space: SpaceInUse { totals.space }

    /// The number of entries that rules remove.
    public var countByRules: Int {
      totals.causes.reduce(0) { $0 + ($1.isByRule ? $1.count : 0) }
    }

    /// Returns the number of entries that are removed for a reason, and not by a rule.
    public func count(by reason: Reason) -> Int {
      totals.causes.first { $0.reason == reason && !$0.isByRule }?.count ?? 0
    }

    /// The ten entries with the largest bodies, the largest first; of equal ones, the first.
    public var largest: [Entry] { totals.largest }

    /// Returns a reader that starts with the first entry.
    public func makeReader() -> Reader { Reader(entries: entries.makeReader()) }

    /// Calls `body` with each entry.
    ///
    /// - Throws: `FileError` if the entries cannot be read, or the error that `body` throws.
    public func forEach(_ body: (Entry) throws -> Void) throws { try entries.forEach(body) }

    /// Reads the entries in order.
    public struct Reader {
      fileprivate var entries: Scratch.Reader<Entry>

      /// Returns the next entry; `nil` at the end.
      public mutating func next() throws(FileError) -> Entry? { try entries.next() }

      /// Returns the next entries; fewer at the end.
      mutating func next(_ count: Int) throws(FileError) -> [Entry] {
        var next: [Entry] = []
        while next.count < count, let entry = try entries.next() { next.append(entry) }
        return next
      }
    }

    /// Writes a list.
    public struct Writer {
      private var entries = Scratch.List<Entry>.Writer()
      private var totals = Totals()

      /// Creates a writer of an empty list.
      public init() {}

      /// The number of entries so far.
      public var count: Int { entries.count }

      /// Appends an entry, whose id must not be less than those before.
      public mutating func append(_ entry: Entry) throws(FileError) {
        try entries.append(entry)
        totals.insert(entry)
      }

      /// Returns the list, and starts a new one.
      public mutating func finish() throws(FileError) -> EntryList {
        var list = EntryList()
        list.totals = totals
        list.entries = try entries.finish()
        totals = Totals()
        return list
      }
    }
  }
}

extension RemovalPlan.EntryList.Totals {
  fileprivate mutating func insert(_ entry: RemovalPlan.Entry) {
    bodyBytes += entry.size ?? 0
    fileBytes += entry.returnedBytes
    // A shared file is freed with the last entry that has it.
    if entry.share.sharedFile != nil, entry.hasBodyFile { fileBytes -= entry.size ?? 0 }
    space.insert(entry.share)
    if let index = causes.firstIndex(where: {
      $0.reason == entry.reason && $0.isByRule == entry.isByRule
    }) {
      causes[index].count += 1
    } else {
      causes.append((entry.reason, entry.isByRule, 1))
    }
    insertIfLarge(entry)
  }

  private mutating func insertIfLarge(_ entry: RemovalPlan.Entry) {
    let size = entry.size ?? 0
    if largest.count == RemovalPlan.EntryList.mostLargest {
      guard let last = largest.last, last.size ?? 0 < size else { return }
      largest.removeLast()
    }
    let place = largest.firstIndex { $0.size ?? 0 < size } ?? largest.count
    largest.insert(entry, at: place)
  }
}

extension RemovalPlan.EntryList {
  /// Creates a list of entries in ascending order of ids.
  public init(_ entries: some Sequence<RemovalPlan.Entry>) throws(FileError) {
    var writer = Writer()
    for entry in entries { try writer.append(entry) }
    self = try writer.finish()
  }

  /// Returns the entries of this list and of another one.
  ///
  /// If both have an id, only this list's entry is in it.
  func merging(_ others: RemovalPlan.EntryList) throws(FileError) -> RemovalPlan.EntryList {
    if others.isEmpty { return self }
    if isEmpty { return others }
    var merged = try MergedEntries(entries.makeReader(), others.entries.makeReader())
    return try Self(&merged)
  }

  /// Creates a list of sorted entries; of those with the same id, it has the first.
  init(_ entries: inout MergedEntries) throws(FileError) {
    var writer = Writer()
    var last: RemovalPlan.Entry?
    while let entry = try entries.next() {
      if entry.version.id != last?.version.id { try writer.append(entry) }
      last = entry
    }
    self = try writer.finish()
  }
}

/// Entries of two readers, both in ascending order of ids, as one; of equal ids, that of the first comes first.
struct MergedEntries {
  private var first: Scratch.Reader<RemovalPlan.Entry>
  private var second: Scratch.Reader<RemovalPlan.Entry>
  private var fronts: (RemovalPlan.Entry?, RemovalPlan.Entry?)

  init(
    _ first: Scratch.Reader<RemovalPlan.Entry>, _ second: Scratch.Reader<RemovalPlan.Entry>
  ) throws(FileError) {
    (self.first, self.second) = (first, second)
    fronts = (try self.first.next(), try self.second.next())
  }

  /// Returns the next entry; `nil` at the end.
  mutating func next() throws(FileError) -> RemovalPlan.Entry? {
    guard let one = fronts.0, fronts.1.map({ $0.version.id >= one.version.id }) ?? true else {
      return try exchange(&fronts.1, with: second.next())
    }
    return try exchange(&fronts.0, with: first.next())
  }
}

// What is next to each other in the rows of an entry: a text of a removed entry can begin in one value and end in the
// next. A key that ends with "/1" is followed by a time that begins with "2", and so seems to be one that ends with "/12".
extension RawResponse {
  /// The small values as they follow each other in a row; and each text with the id after it, as in an index.
  var smallValues: [UInt8] {
    var bytes: [UInt8] = []
    for column in columns {
      switch column.value {
      case .text(let text): bytes += text.bytes
      case .blob(let blob): bytes += blob
      case .null, .integer, .real: break
      }
    }
    let id = Self.stored(id)
    for column in columns {
      if case .text(let text) = column.value { bytes += text.bytes + id }
    }
    return bytes
  }

  /// Returns the bytes of an integer in a record: as few as it needs, but none for 0 and 1.
  private static func stored(_ integer: Int64) -> [UInt8] {
    guard integer != 0, integer != 1 else { return [] }
    let length = [1, 2, 3, 4, 6].first { integer >> (8 * Int64($0) - 1) == integer >> 63 } ?? 8
    return (0..<length).reversed().map { UInt8(truncatingIfNeeded: integer >> (8 * Int64($0))) }
  }

  /// Returns the end of the header of a record, which is before a body: the types of the values.
  static func types(ofBodyWith size: ByteCount) -> [UInt8] {
    var rest = UInt64(clamping: size.bytes) &* 2 &+ 12
    var type = [UInt8(truncatingIfNeeded: rest & 0x7F)]
    while rest >= 0x80 {
      rest >>= 7
      type.insert(UInt8(truncatingIfNeeded: rest & 0x7F) | 0x80, at: 0)
    }
    // NULL for the id, and the integer 0 for a body that is not in a file.
    return [0, 8] + type
  }
}

/// The result of compacting a cache.
public struct Compaction: Hashable, Sendable {
  /// The store.
  public var store: StoreDescription
  /// The sizes before.
  public var before: Footprint
  /// The sizes after; `nil` if nothing was done, as in a dry run.
  public var after: Footprint?
  /// The method used; `nil` in a dry run.
  public var method: CompactionMethod?
  /// Why free space is left, if the compaction was stopped.
  public var stopReason: StopReason?
  /// The number of files without an entry that were removed first, or would be in a dry run.
  public var orphans = 0
  /// What was done so that nothing can be recovered; `nil` if that was not requested.
  public var erasure: ErasureReceipt?

  /// Creates a compaction that has not run yet.
  public init(store: StoreDescription, before: Footprint) {
    self.store = store
    self.before = before
  }

  /// Whether compacting frees at least the given share of the database file.
  ///
  /// - Parameter percent: The share, in percent; even 0 requires that something can be freed.
  public func isWorthwhile(above percent: Double) -> Bool {
    // The log of an open cache disappears only when its last process closes it.
    let log = store.inUse ? 0 : before.reclaimableLogBytes
    let bytes = before.freeBytes + before.tailBytes + log
    // Multiplied and not divided, as a share of an empty file would be NaN.
    return bytes > 0 && Double(bytes) * 100 >= Double(before.databaseBytes) * percent
  }
}
