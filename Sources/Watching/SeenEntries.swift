public import Bytes
import Files
public import ResponseStorage
import SQLite

/// The entries of the last look, in a temporary database: memory does not grow with their number.
final class SeenEntries {
  private let database: Scratch
  private var isIndexed = false

  /// The number of entries.
  private(set) var count: Int64 = 0

  init() throws(FileError) {
    // An id is a number, or the name of a file.
    database = try Scratch(
      tables: [
        """
        CREATE TABLE seen(
          id PRIMARY KEY, key INTEGER, version INTEGER, url BLOB, size INTEGER, isSelected INTEGER
        ) WITHOUT ROWID
        """
      ])
  }

  /// The highest id; `nil` if there are no entries.
  var highestID: StoredResponse.ID? {
    get throws(FileError) {
      var statement = try database.prepare("SELECT max(id) FROM seen")
      guard try database.step(&statement), statement.type(at: 0) != .null else { return nil }
      return statement.responseID(at: 0)
    }
  }

  /// Removes entries, and then adds others.
  func replace(
    _ removed: [StoredResponse.ID], with added: [SeenEntry]
  ) throws(FileError) {
    var removal = try database.prepare("DELETE FROM seen WHERE id = ? RETURNING 1")
    for id in removed {
      try database.restart(&removal)
      try database.bind(to: &removal) { statement throws(SQLiteError) in
        try statement.bind(id, at: 1)
      }
      if try database.step(&removal) { count -= 1 }
    }
    var insertion = try database.prepare("INSERT OR REPLACE INTO seen VALUES(?, ?, ?, ?, ?, ?)")
    for entry in added {
      try database.restart(&insertion)
      try database.bind(to: &insertion) { statement throws(SQLiteError) in
        try statement.bind(entry)
      }
      _ = try database.step(&insertion)
    }
    count += Int64(added.count)
  }

  /// Returns the entries with a key, in the order of their ids.
  func entries(withKey key: Int) throws(FileError) -> [SeenEntry] {
    // Only now: a watch that finds no new ids never needs it.
    if !isIndexed { try database.execute("CREATE INDEX keys ON seen(key)") }
    isIndexed = true
    var statement = try database.prepare("SELECT * FROM seen WHERE key = ? ORDER BY id")
    try database.restart(&statement, Int64(key))
    var entries: [SeenEntry] = []
    while try database.step(&statement) { entries.append(SeenEntry(statement)) }
    return entries
  }

  /// Returns a reader of all entries, in the order of their ids. Nothing may be changed while it is in use.
  func makeReader() throws(FileError) -> Reader {
    Reader(entries: self, statement: try database.prepare("SELECT * FROM seen ORDER BY id"))
  }

  /// Reads entries.
  struct Reader: ~Copyable {
    fileprivate let entries: SeenEntries
    fileprivate var statement: Statement

    /// Returns the next entry; `nil` at the end.
    mutating func next() throws(FileError) -> SeenEntry? {
      try entries.database.step(&statement) ? SeenEntry(statement) : nil
    }
  }
}

extension SeenEntry {
  /// Creates the entry in the current row.
  fileprivate init(_ statement: borrowing Statement) {
    self.init(
      id: statement.responseID(at: 0),
      key: statement.type(at: 1) == .null ? nil : Int(statement.integer(at: 1)),
      version: Int(statement.integer(at: 2)))
    url = statement.type(at: 3) == .null ? nil : ByteString(statement.bytes(at: 3))
    size = statement.type(at: 4) == .null ? nil : ByteCount(statement.integer(at: 4))
    isSelected = statement.integer(at: 5) == 1
    isRead = true
  }
}

extension Statement {
  fileprivate mutating func bind(_ entry: SeenEntry) throws(SQLiteError) {
    try bind(entry.id, at: 1)
    try bind(integer: entry.key.map { Int64($0) }, at: 2)
    try bind(integer: Int64(entry.version), at: 3)
    if let url = entry.url { try bind(blob: url.bytes, at: 4) } else { try bindNull(at: 4) }
    try bind(integer: entry.size?.bytes, at: 5)
    try bind(integer: entry.isSelected ? 1 : 0, at: 6)
  }

  private mutating func bind(integer: Int64?, at parameter: Int32) throws(SQLiteError) {
    if let integer {
      try bind(integer: integer, at: parameter)
    } else {
      try bindNull(at: parameter)
    }
  }
}

/// What a watch remembers of an entry from one look at the cache to the next.
struct SeenEntry {
  let id: StoredResponse.ID
  /// A hash of the key; `nil` if the entry has none.
  let key: Int?
  /// A hash of what changes whenever the entry is stored again.
  let version: Int
  /// The URL; `nil` if it is unknown, or the entry was not selected.
  var url: ByteString?
  var size: ByteCount?
  /// Whether the entry was selected when it was stored.
  var isSelected = false
  /// Whether the entry has been read, and not only seen.
  var isRead = false

  /// The fields that ``init(_:)`` needs, which are quickly read.
  static let projection: Projection = [.key, .stored, .file]

  init(id: StoredResponse.ID, key: Int?, version: Int) {
    (self.id, self.key, self.version) = (id, key, version)
  }

  init(_ response: borrowing StoredResponse) {
    var hasher = Hasher()
    // CFNetwork stores the time of an update with the response. Foundation writes another file.
    hasher.combine(response.stored)
    hasher.combine(response.file)
    self.init(
      id: response.id, key: response.key.map(\.hashValue), version: hasher.finalize())
  }

  /// Remembers more of the entry.
  mutating func read(_ response: borrowing StoredResponse, isSelected: Bool) {
    (isRead, self.isSelected) = (true, isSelected)
    size = response.bodySize
    url = isSelected ? response.url ?? response.key : nil
  }
}

/// The entries of a cache, compared with those of an earlier look. Memory grows with the number of differences.
struct EntryComparison {
  /// The entries that are new, or were stored again, in ascending order of their ids.
  private(set) var changed: [SeenEntry] = []
  /// The earlier entries that others replace, by the places of those in ``changed``.
  private(set) var replaced: [Int: SeenEntry] = [:]
  /// The earlier entries whose keys have no entry any more.
  private(set) var gone: [SeenEntry] = []

  /// Compares the entries.
  ///
  /// - Parameter source: The cache, which passes on its entries in ascending order of their ids; `nil` if there is none.
  init(of earlier: SeenEntries, with source: (any ResponseSource)?) throws {
    var rest = try earlier.makeReader()
    var next = try rest.next()
    try source?.scan(SeenEntry.projection) { response in
      let entry = SeenEntry(response)
      while let before = next, before.id < entry.id {
        gone.append(before)
        next = try rest.next()
      }
      guard let before = next, before.id == entry.id else {
        changed.append(entry)
        return .next
      }
      insert(entry, after: before)
      next = try rest.next()
      return .next
    }
    while let before = next {
      gone.append(before)
      next = try rest.next()
    }
    pair()
  }

  /// Inserts an entry that has the id of an earlier one.
  private mutating func insert(_ entry: SeenEntry, after earlier: SeenEntry) {
    if earlier.key == entry.key {
      guard earlier.version != entry.version else { return }
      replaced[changed.count] = earlier
    } else {
      // Another database, which counts from one again.
      gone.append(earlier)
    }
    changed.append(entry)
  }

  /// Recognizes entries that were removed and stored again under another id.
  private mutating func pair() {
    guard !gone.isEmpty, !changed.isEmpty else { return }
    var places: [Int: Int] = [:]
    for (place, entry) in gone.enumerated() {
      if let key = entry.key { places[key] = place }
    }
    var paired: Set<Int> = []
    for (index, entry) in changed.enumerated() where replaced[index] == nil {
      guard let key = entry.key, let place = places.removeValue(forKey: key) else { continue }
      replaced[index] = gone[place]
      paired.insert(place)
    }
    guard !paired.isEmpty else { return }
    gone = gone.enumerated().filter { !paired.contains($0.offset) }.map(\.element)
  }
}

/// A change of an entry, as seen from one look at the cache to the next.
public struct EntryChange: Sendable {
  /// The kinds of change.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// There was no entry with this key.
    case added
    /// There was an entry with this key.
    case replaced
    /// There is no entry with this key any more.
    case removed
  }

  /// The kind of change.
  public let kind: Kind
  /// The id; of a removed entry, the one that it had.
  public let id: StoredResponse.ID
  /// The URL; `nil` if it is unknown.
  public let url: ByteString?
  /// The size of the body; `nil` if it is unknown.
  public let size: ByteCount?
  /// The id of the replaced entry; `nil` unless one was replaced.
  public let previousID: StoredResponse.ID?
  /// The size of the body of the replaced entry; `nil` if it is unknown.
  public let previousSize: ByteCount?
  /// The entry; `nil` if it was removed.
  public let response: StoredResponse?
  /// Whether the entry meets the condition that is waited for.
  public let isAwaited: Bool
}
