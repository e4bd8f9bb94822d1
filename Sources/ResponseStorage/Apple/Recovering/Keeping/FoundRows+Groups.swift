import Bytes
import SQLite

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
