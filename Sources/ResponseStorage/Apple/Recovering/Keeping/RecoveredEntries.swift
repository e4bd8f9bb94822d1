import Bytes
import SQLite

/// The entries that were found, in a temporary database.
final class RecoveredEntries {
  typealias Entry = RecoveredStore.Entry

  private let database: TemporaryDatabase
  private var insertion: Statement
  private var finding: Statement
  private var added: Int64 = 0
  /// The entry that was read last: its fact, its rows and its body are read one after another.
  private var last: Entry?

  /// The number of entries with an id.
  private(set) var count: Int64 = 0

  init() throws {
    database = try TemporaryDatabase(
      tables: [
        """
        CREATE TABLE entries(number INTEGER PRIMARY KEY, entry_id INTEGER, is_older INTEGER, key INTEGER,
        is_url INTEGER, is_complete INTEGER, until INTEGER, place INTEGER, stored REAL, file TEXT, entry BLOB)
        """,
        "CREATE TABLE ids(id INTEGER PRIMARY KEY, number INTEGER)",
      ])
    insertion = try database.prepare(
      "INSERT INTO entries VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")
    finding = try database.prepare(
      "SELECT id, entry FROM ids CROSS JOIN entries USING (number) WHERE id = ?1")
  }

  /// Adds an entry, which has no id until ``number(withVersions:)``.
  func append(_ entry: Entry) throws {
    let fact = entry.fact
    try database.restart(
      &insertion, added, fact.entryID ?? 0, fact.isOlderVersion ? 1 : 0,
      Int64(entry.key?.digest ?? 0), entry.rows.blob == nil ? 1 : 0,
      fact.confidence == .complete ? 1 : 0, entry.to, fact.place.offset)
    var values = PackedValues()
    entry.pack(into: &values)
    try database.bind(to: &insertion) { statement throws(SQLiteError) in
      if fact.entryID == nil { try statement.bindNull(at: 2) }
      if entry.key == nil { try statement.bindNull(at: 4) }
      try statement.bind(real: entry.stored, at: 9)
      try statement.bind(text: Array(fact.place.file.rawValue.utf8), at: 10)
      try statement.bind(blob: values.bytes, at: 11)
    }
    _ = try database.step(&insertion)
    added += 1
  }

  /// Gives each entry an id of its own.
  ///
  /// - Parameter withVersions: Whether all entries get one; otherwise only the newest version of each that the cache does not
  ///   have.
  func number(withVersions: Bool) throws {
    let listed =
      withVersions
      ? "entries" : "(\(Self.ranked)) WHERE rank = 1 OR key IS NULL"
    // An entry without an id comes last.
    try database.execute(
      """
      CREATE TABLE listed AS SELECT number, entry_id FROM \(listed)
      ORDER BY ifnull(entry_id, \(Int64.max)), stored DESC, until DESC, file, place, number
      """)
    var totals = try database.prepare("SELECT count(*), ifnull(max(entry_id), 0) FROM listed")
    guard try database.step(&totals) else { return }
    count = totals.integer(at: 0)
    let highest = totals.integer(at: 1)
    var next = highest < .max - count - 1 ? highest + 1 : 1
    var last: Int64?
    var rows = try database.prepare("SELECT number, entry_id FROM listed ORDER BY rowid")
    var assignment = try database.prepare("INSERT INTO ids VALUES(?1, ?2)")
    while try database.step(&rows) {
      var id = next
      if rows.type(at: 1) != .null, rows.integer(at: 1) != last, highest < next {
        id = rows.integer(at: 1)
        last = id
      } else {
        next += 1
      }
      try database.restart(&assignment, id, rows.integer(at: 0))
      _ = try database.step(&assignment)
    }
    try database.complete()
  }

  /// The entries that the cache does not have, with the rank of each version: the newest one has 1.
  ///
  /// An entry of which more than the URL is left is worth more than a newer one of which it is not.
  private static let ranked = """
    SELECT number, entry_id, key, stored, until, file, place, row_number() OVER (PARTITION BY key
    ORDER BY is_url, stored DESC, is_complete DESC, until DESC, ifnull(entry_id, 0) DESC, number) AS rank
    FROM entries WHERE NOT is_older
    """

  /// Calls `body` with each entry that has an id, in the order of ids.
  func forEach(_ body: (Entry) throws -> ScanStep) throws {
    var rows = try database.prepare(
      "SELECT id, entry FROM ids CROSS JOIN entries USING (number) ORDER BY id")
    while try database.step(&rows) {
      let entry = try entry(of: rows)
      last = entry
      if try body(entry) == .stop { return }
    }
  }

  /// Returns the entry with an id; `nil` if there is none.
  func entry(_ id: StoredResponse.ID) throws -> Entry? {
    if let last, last.fact.id == id { return last }
    guard case .row(let number) = id else { return nil }
    try database.restart(&finding, number)
    guard try database.step(&finding) else { return nil }
    last = try entry(of: finding)
    return last
  }

  private func entry(of statement: borrowing Statement) throws -> Entry {
    let id = StoredResponse.ID.row(statement.integer(at: 0))
    return try database.unpack(statement, at: 1) { reader throws(PackedReader.Failure) in
      try Entry(from: &reader, id: id)
    }
  }
}
