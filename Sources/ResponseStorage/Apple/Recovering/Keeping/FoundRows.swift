import Bytes
import SQLite

/// What two copies of one row have in common.
struct RowIdentity: Hashable {
  var table: AppleRecordShapes.Table
  /// `nil` if the id is overwritten.
  var id: Int64?
  /// A digest of all its values.
  var digest: Int
}

/// The rows that were found, each once, in a temporary database.
///
/// They are in the order of the ids of their entries, in which the pages of a cache have most of them, too.
final class FoundRows {
  let database: Scratch
  private var finding: Statement
  private var insertion: Statement
  private var replacement: Statement
  private var removal: Statement
  private var nextID: Statement

  /// The number of rows that were added, also of those that were removed since.
  private var added: Int64 = 0

  /// Creates an empty database.
  init() throws {
    // A row without an id has 0 as its entry until ``groupNameless()``. Another column keeps it apart from the rows of the
    // entry that it is found to belong to: in a damaged database, one of them can be equal to it. A row can lose its id, if
    // remains of it are more whole than it is.
    database = try Scratch(
      tables: [
        """
        CREATE TABLE found(entry INTEGER, nameless INTEGER, kind INTEGER, digest INTEGER, number INTEGER, has_id INTEGER, row BLOB,
        PRIMARY KEY(entry, nameless, kind, digest)) WITHOUT ROWID
        """
      ])
    finding = try database.prepare("SELECT row FROM found WHERE \(Self.isRow)")
    insertion = try database.prepare("INSERT INTO found VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)")
    replacement = try database.prepare("UPDATE found SET has_id = ?5, row = ?6 WHERE \(Self.isRow)")
    removal = try database.prepare("DELETE FROM found WHERE \(Self.isRow)")
    nextID = try database.prepare(
      "SELECT entry FROM found WHERE entry > ?1 AND has_id ORDER BY entry LIMIT 1")
  }

  private static let isRow = "entry = ?1 AND nameless = ?2 AND kind = ?3 AND digest = ?4"

  /// Returns a row; `nil` if it is not there.
  func row(_ identity: RowIdentity) throws -> FoundRow? {
    try restart(&finding, identity)
    guard try database.step(&finding) else { return nil }
    return try row(of: finding, at: 0)
  }

  /// Adds a row that is not there.
  func append(_ row: FoundRow, _ identity: RowIdentity) throws {
    try database.restart(
      &insertion, identity.id ?? 0, identity.id == nil ? 1 : 0, Int64(identity.table.rawValue),
      Int64(identity.digest), added, row.id == nil ? 0 : 1)
    try database.bind(to: &insertion) { statement throws(SQLiteError) in
      try statement.bind(row: row, at: 7)
    }
    _ = try database.step(&insertion)
    added += 1
  }

  /// Replaces a row that is there, and keeps its place in the order of rows.
  func replace(_ identity: RowIdentity, with row: FoundRow) throws {
    try database.restart(
      &replacement, identity.id ?? 0, identity.id == nil ? 1 : 0, Int64(identity.table.rawValue),
      Int64(identity.digest), row.id == nil ? 0 : 1)
    try database.bind(to: &replacement) { statement throws(SQLiteError) in
      try statement.bind(row: row, at: 6)
    }
    _ = try database.step(&replacement)
  }

  /// Removes a row if it is there.
  func remove(_ identity: RowIdentity) throws {
    try restart(&removal, identity)
    _ = try database.step(&removal)
  }

  private func restart(_ statement: inout Statement, _ identity: RowIdentity) throws {
    try database.restart(
      &statement, identity.id ?? 0, identity.id == nil ? 1 : 0, Int64(identity.table.rawValue),
      Int64(identity.digest))
  }

  /// Returns whether there are no rows.
  func isEmpty() throws -> Bool {
    var rows = try database.prepare("SELECT 1 FROM found LIMIT 1")
    return try !database.step(&rows)
  }

  /// Returns the lowest id above another.
  func id(after other: Int64) throws -> Int64? {
    try database.restart(&nextID, other)
    return try database.step(&nextID) ? nextID.integer(at: 0) : nil
  }

  // MARK: Passes

  /// Which rows a pass reads.
  enum Scope: String {
    case all = "TRUE"
    case named = "has_id"
    case nameless = "NOT has_id"
  }

  /// Calls `body` with each row of a scope, in no order. It must not change the rows.
  func forEach(_ scope: Scope, _ body: (FoundRow, RowIdentity) throws -> Void) throws {
    var rows = try database.prepare("SELECT row, kind, digest FROM found WHERE \(scope.rawValue)")
    while try database.step(&rows) {
      let row = try row(of: rows, at: 0)
      try body(
        row, RowIdentity(table: row.table, id: row.id, digest: Int(rows.integer(at: 2))))
    }
  }

  /// Calls `body` with the identities of each two equal rows of which one has an id. It may replace them.
  func forEachDouble(
    _ body: (_ named: RowIdentity, _ nameless: RowIdentity) throws -> Void
  ) throws {
    // A row that changes while the others are read could be read again.
    try database.execute(
      """
      CREATE TABLE doubles AS SELECT kind, entry, digest FROM found AS named WHERE nameless = 0 AND EXISTS
      (SELECT 1 FROM found WHERE entry = 0 AND nameless = 1 AND kind = named.kind AND digest = named.digest)
      """)
    try forEachKnownDouble(body)
  }

  /// Removes the rows without an id that ``forEachDouble(_:)`` has found.
  func removeDoubles() throws { try forEachKnownDouble { try remove($1) } }

  private func forEachKnownDouble(_ body: (RowIdentity, RowIdentity) throws -> Void) throws {
    var doubles = try database.prepare("SELECT kind, entry, digest FROM doubles")
    while try database.step(&doubles) {
      guard let code = UInt8(exactly: doubles.integer(at: 0)),
        let table = AppleRecordShapes.Table(rawValue: code)
      else { continue }
      let digest = Int(doubles.integer(at: 2))
      try body(
        RowIdentity(table: table, id: doubles.integer(at: 1), digest: digest),
        RowIdentity(table: table, id: nil, digest: digest))
    }
  }

  func row(of statement: borrowing Statement, at column: Int32) throws -> FoundRow {
    try database.row(statement, at: column)
  }
}

// The rows of each entry together.
extension FoundRows {
  /// The rows of one entry, in the order in which they were found.
  struct Group {
    var rows: [FoundRow] = []
    /// Whether SQLite shows a row of the table of keys.
    var isShown = false
    private var counts: [AppleRecordShapes.Table: Int] = [:]

    /// The most rows of one table that are looked at: hostile rows can all have one id.
    private static let mostVersions = 10_000

    fileprivate mutating func append(_ row: FoundRow) {
      if row.table == .responses, row.isLive { isShown = true }
      guard counts[row.table, default: 0] < Self.mostVersions else { return }
      counts[row.table, default: 0] += 1
      rows.append(row)
    }
  }

  /// Calls `body` with the rows of each entry, in the order of the ids.
  ///
  /// Rows without an id are in the group of the only entry with their URL, or otherwise in one of their own, before the
  /// others.
  func forEachGroup(_ body: (Group) throws -> Void) throws {
    try groupNameless()
    var rows = try database.prepare(
      "SELECT entry, row FROM found WHERE entry <> 0 ORDER BY entry, number")
    var group = Group()
    var entry: Int64 = 0
    while try database.step(&rows) {
      if rows.integer(at: 0) != entry {
        if entry != 0 { try body(group) }
        (group, entry) = (Group(), rows.integer(at: 0))
      }
      group.append(try row(of: rows, at: 1))
    }
    if entry != 0 { try body(group) }
  }

  /// How many entries have a URL.
  private enum Owner {
    case none
    case one(Int64)
    case several
  }

  /// Finds out which entries the rows without an id belong to.
  private func groupNameless() throws {
    var owners: [ByteString.Hash: Owner] = [:]
    try forEach(.nameless) { row, _ in
      if let text = row.text { owners[RecoveryJoining.comparable(text).digest] = Owner.none }
    }
    guard !owners.isEmpty else { return }
    try forEach(.named) { row, _ in
      guard let id = row.id, let text = row.text else { return }
      let digest = RecoveryJoining.comparable(text).digest
      switch owners[digest] {
      case nil, .several: break
      case .one(id): break
      case .one: owners[digest] = .several
      case .some(.none): owners[digest] = .one(id)
      }
    }
    // In a table of its own: a row that changes while the others are read could be read again.
    try database.execute(
      """
      CREATE TABLE groups(entry INTEGER, nameless INTEGER, kind INTEGER, digest INTEGER, owner INTEGER)
      """)
    var insertion = try database.prepare("INSERT INTO groups VALUES(?1, ?2, ?3, ?4, ?5)")
    var rows = try database.prepare(
      "SELECT entry, nameless, kind, digest, row FROM found WHERE NOT has_id ORDER BY number")
    var unknownCount: Int64 = 0
    var unknownIDs: [ByteString.Hash: Int64] = [:]
    while try database.step(&rows) {
      guard let text = try row(of: rows, at: 4).text else { continue }
      let digest = RecoveryJoining.comparable(text).digest
      let owner: Int64
      if case .one(let id)? = owners[digest] {
        owner = id
      } else if let known = unknownIDs[digest] {
        owner = known
      } else {
        // Numbers below 0 are no ids: they only keep rows of one URL together.
        unknownCount += 1
        owner = -unknownCount
        unknownIDs[digest] = owner
      }
      try database.restart(
        &insertion, rows.integer(at: 0), rows.integer(at: 1), rows.integer(at: 2),
        rows.integer(at: 3), owner)
      _ = try database.step(&insertion)
    }
    var groups = try database.prepare("SELECT entry, nameless, kind, digest, owner FROM groups")
    var change = try database.prepare(
      """
      UPDATE found SET entry = ?5, nameless = number + 1
      WHERE entry = ?1 AND nameless = ?2 AND kind = ?3 AND digest = ?4
      """)
    while try database.step(&groups) {
      try database.restart(
        &change, groups.integer(at: 0), groups.integer(at: 1), groups.integer(at: 2),
        groups.integer(at: 3), groups.integer(at: 4))
      _ = try database.step(&change)
    }
  }
}
