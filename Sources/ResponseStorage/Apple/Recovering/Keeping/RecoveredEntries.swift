import Bytes
import SQLite
import SQLitePages

/// The entries that were found, in a temporary database.
final class RecoveredEntries {
  typealias Entry = RecoveredStore.Entry

  private let database: Scratch
  private var insertion: Statement
  private var finding: Statement
  private var added: Int64 = 0
  /// The entry that was read last: its fact, its rows and its body are read one after another.
  private var last: Entry?

  /// The number of entries with an id.
  private(set) var count: Int64 = 0

  init() throws {
    database = try Scratch(
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

/// The digests of long bodies, for bodies that are found again: a page of rows is in the log many times.
final class BodyDigests {
  /// What tells a body from others without reading its overflow pages.
  struct Key {
    /// A digest of the part of the body that is in the page of its row.
    var local: ByteString.Hash
    /// Its first overflow page.
    var overflow: PageImages.Image
  }

  private let database: Scratch
  private var finding: Statement
  private var insertion: Statement

  init() throws {
    // In the order of the files, in which most bodies are found. The time of a state follows from its place.
    database = try Scratch(
      tables: [
        """
        CREATE TABLE bodies(file INTEGER, offset INTEGER, local INTEGER, digest INTEGER, complete INTEGER,
        PRIMARY KEY(file, offset, local)) WITHOUT ROWID
        """
      ])
    finding = try database.prepare(
      "SELECT digest, complete FROM bodies WHERE file = ?1 AND offset = ?2 AND local = ?3")
    insertion = try database.prepare("INSERT INTO bodies VALUES(?1, ?2, ?3, ?4, ?5)")
  }

  /// Returns the digest of a body that was found before, and whether all of it could be read.
  func digest(of key: Key) throws -> (digest: Int, isComplete: Bool)? {
    let image = key.overflow
    try database.restart(&finding, Int64(image.file.number), image.offset, Int64(key.local))
    guard try database.step(&finding) else { return nil }
    return (Int(finding.integer(at: 0)), finding.integer(at: 1) == 1)
  }

  /// Adds a body that was not found before.
  func add(_ key: Key, _ digest: Int, isComplete: Bool) throws {
    let image = key.overflow
    try database.restart(
      &insertion, Int64(image.file.number), image.offset, Int64(key.local), Int64(digest),
      isComplete ? 1 : 0)
    _ = try database.step(&insertion)
  }
}

/// A set of states of pages, with one bit for each.
struct ImageSet {
  private var filePages: PageSet
  private var frames: PageSet
  private var journalPages: PageSet
  private let pageSize: Int

  /// Creates an empty set for the pages of files.
  init(of images: PageImages) {
    filePages = PageSet(upTo: images.filePageCount)
    let numbers = images.highestNumbers
    frames = PageSet(upTo: UInt32(clamping: numbers.frame))
    journalPages = PageSet(upTo: UInt32(clamping: numbers.journalPage))
    pageSize = images.header.pageSize
  }

  func contains(_ image: PageImages.Image) -> Bool {
    let number = number(of: image)
    return switch image.file {
    case .database: filePages.contains(number)
    case .log: frames.contains(number)
    case .journal: journalPages.contains(number)
    }
  }

  mutating func insert(_ image: PageImages.Image) {
    let number = number(of: image)
    switch image.file {
    case .database: filePages.insert(number)
    case .log: frames.insert(number)
    case .journal: journalPages.insert(number)
    }
  }

  /// Returns the number of a state in its file, from 1.
  private func number(of image: PageImages.Image) -> UInt32 {
    image.file == .database
      ? UInt32(clamping: image.offset / Int64(pageSize) + 1) : UInt32(clamping: image.number)
  }
}

extension PageImages {
  /// The pages that only the log or the journal has. Their numbers can be any, so they are in no set with bits.
  var pagesAfterEnd: [UInt32] { changed.keys.filter { $0 > filePageCount }.sorted() }

  /// The highest numbers of states in the log and in the journal.
  fileprivate var highestNumbers: (frame: Int, journalPage: Int) {
    var result = (frame: 0, journalPage: 0)
    for image in changed.values.lazy.joined() {
      switch image.file {
      case .database: break
      case .log: result.frame = max(result.frame, image.number)
      case .journal: result.journalPage = max(result.journalPage, image.number)
      }
    }
    return result
  }
}
