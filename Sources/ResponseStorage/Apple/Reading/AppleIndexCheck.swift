import Bytes
import Files
import SQLite
import SQLitePages

/// A comparison of a table with its indexes that reads each page once.
///
/// For each row, `integrity_check` searches each index, so the pages of a large index are read again and again. But an
/// index is right if its structure is, its keys are in order, and they are the keys of the rows; a sum of digests shows
/// whether they are. Only SQLite describes what is wrong, so after any doubt it has to check the table itself.
struct AppleIndexCheck: Sendable {
  private struct Index {
    let root: UInt32
    /// The number of the column; `nil` for the id of the row.
    let column: Int?
    let isUnique: Bool
  }

  /// What is compared of the keys of an index.
  private struct Sum: Equatable {
    var count: Int64 = 0
    var digests: UInt64 = 0

    mutating func add(_ key: borrowing AppleIndexKey, _ seed: UInt64) {
      count += 1
      digests &+= key.digest(seed: seed)
    }
  }

  private let root: UInt32
  private let indexes: [Index]
  private let header: DatabaseHeader
  private let seed = UInt64.random(in: .min ... .max)

  /// Prepares the comparison.
  ///
  /// - Parameters:
  ///   - table: The name of the table, in quotes.
  /// - Returns: `nil` if the table has no indexes, or one that has not a single column or is defined by more than that.
  init?(
    of table: String, root: UInt32, _ header: DatabaseHeader, _ connection: borrowing Connection
  ) throws(SQLiteError) {
    (self.root, self.header) = (root, header)
    var primary: [(column: Int, isInteger: Bool)] = []
    var columns = try connection.prepare("PRAGMA table_xinfo(\(table))")
    while try columns.step() {
      // A record has no values of generated columns.
      guard columns.integer(at: 6) == 0 else { return nil }
      guard columns.integer(at: 5) > 0 else { continue }
      let isInteger = ByteString(columns.bytes(at: 2)).equalsIgnoringASCIICase("integer")
      primary.append((Int(columns.integer(at: 0)), isInteger))
    }
    var (indexes, alias): ([Index], Int?) = ([], nil)
    if primary.count == 1, primary[0].isInteger { alias = primary[0].column }
    var names: [(name: [UInt8], isUnique: Bool)] = []
    var list = try connection.prepare("PRAGMA index_list(\(table))")
    while try list.step() {
      // Not partial, and not that of a primary key that is a column of its own.
      guard list.integer(at: 4) == 0, list.bytes(at: 3) != Array("pk".utf8), names.count < 100
      else { return nil }
      names.append((list.bytes(at: 1), list.integer(at: 2) != 0))
    }
    for (name, isUnique) in names {
      guard let (root, column) = try Self.rootAndColumn(ofIndex: name, connection) else {
        return nil
      }
      indexes.append(
        Index(root: root, column: column == alias ? nil : column, isUnique: isUnique))
    }
    guard !indexes.isEmpty else { return nil }
    self.indexes = indexes
  }

  /// Returns the root page and the column of an index; `nil` if its definition is another one.
  private static func rootAndColumn(
    ofIndex name: [UInt8], _ connection: borrowing Connection
  ) throws(SQLiteError) -> (UInt32, Int)? {
    var parts = try connection.prepare(
      "SELECT cid, \"desc\", coll = 'BINARY', key FROM pragma_index_xinfo(?1) ORDER BY seqno")
    try parts.bind(text: name, at: 1)
    guard try parts.step(), parts.integer(at: 0) >= 0, parts.integer(at: 1) == 0,
      parts.integer(at: 2) == 1, parts.integer(at: 3) == 1
    else { return nil }
    let column = Int(parts.integer(at: 0))
    // The id of the row follows, except in a table without ids.
    guard try parts.step(), parts.integer(at: 0) == -1, try !parts.step() else { return nil }
    var roots = try connection.prepare(
      "SELECT rootpage FROM sqlite_master WHERE type = 'index' AND name = ?1")
    try roots.bind(text: name, at: 1)
    guard try roots.step(), let root = UInt32(exactly: roots.integer(at: 0)), root > 1 else {
      return nil
    }
    return (root, column)
  }

  /// Whether the table and its indexes have the same keys, in order, if the structure of the database is right.
  ///
  /// - Parameter database: The path of a database that no process changes.
  func isRight(in database: String) -> Bool {
    do {
      var pages = try FilePages(of: PageFile(database), header)
      guard let sums = try sumsOfRows(&pages) else { return false }
      for index in indexes {
        pages.startOver()
        guard try sum(of: index, &pages) == sums[index.column] else { return false }
      }
      return true
    } catch {
      // SQLite meets the same error, and reports it.
      return false
    }
  }

  /// Returns the keys that the rows should have in indexes, by their columns.
  private func sumsOfRows(_ pages: inout FilePages) throws -> [Int?: Sum]? {
    let columns = Set(indexes.map(\.column)).sorted { $0 ?? -1 < $1 ?? -1 }
    let last = columns.compactMap(\.self).max()
    var (sums, key) = (columns.map { _ in Sum() }, AppleIndexKey())
    var payload: [UInt8] = []
    func add(_ record: RecordHeader?, _ bytes: Span<UInt8>, row id: Int64) -> Bool {
      for (index, column) in columns.enumerated() {
        guard key.read(column, of: record, in: bytes, row: id) else { return false }
        sums[index].add(key, seed)
      }
      return true
    }
    let isComplete = try Tree(root: root, usableSize: header.usableSize).forEachRow(
      pageCount: header.pageCount, reading: &pages
    ) { pages, page, cell in
      guard let last else { return add(nil, page, row: cell.rowID) }
      guard let record = RecordHeader(page, of: cell), record.values.indices.contains(last) else {
        return false
      }
      let end = record.values[last].range.upperBound
      if end <= cell.payload.local.count {
        return add(record, page.extracting(cell.payload.local), row: cell.rowID)
      }
      // A long URL continues on overflow pages.
      return try end <= Int(Connection.largestValue)
        && cell.payload.read(
          end, of: page, usableSize: header.usableSize, into: &payload, from: &pages)
        && add(record, payload.span, row: cell.rowID)
    }
    guard isComplete else { return nil }
    return Dictionary(zip(columns, sums)) { first, _ in first }
  }

  /// Returns the keys of an index; `nil` if they are not in order.
  private func sum(of index: Index, _ pages: inout FilePages) throws -> Sum? {
    var (sum, key, previous) = (Sum(), AppleIndexKey(), AppleIndexKey())
    let isComplete = try Tree(root: index.root, usableSize: header.usableSize).forEachIndexRecord(
      pageCount: header.pageCount, longest: Int(Connection.largestValue), reading: &pages
    ) { record in
      // Nothing but the value and the id.
      guard let header = RecordHeader(record, at: 0, before: record.count),
        header.values.count == 2, header.size == record.count,
        let id = header.integer(1, in: record), key.read(0, of: header, in: record, row: id),
        sum.count == 0 || key.canFollow(previous, isUnique: index.isUnique)
      else { return false }
      sum.add(key, seed)
      swap(&key, &previous)
      return true
    }
    return isComplete ? sum : nil
  }
}

/// Reads the pages of a database without a log.
private struct FilePages: PageReading {
  private let file: PageFile
  private let size: Int
  private let count: UInt32
  /// The number of pages that may still be read. A tree and its overflow pages have each page once, but in a damaged
  /// database, all cells could refer to the same long chain.
  private var rest: UInt32

  init(of file: PageFile, _ header: DatabaseHeader) throws(FileError) {
    // The number in the header can be wrong.
    let length = try file.file.status().size.bytes
    let whole = UInt32(clamping: length / Int64(header.pageSize))
    (self.file, size, count) = (file, header.pageSize, min(header.pageCount, whole))
    rest = count
  }

  /// Starts to read another tree.
  mutating func startOver() { rest = count }

  mutating func read(_ page: UInt32, into buffer: inout [UInt8]) throws -> Bool {
    guard page > 0, rest > 0 else { return false }
    rest -= 1
    if buffer.count != size { buffer = [UInt8](repeating: 0, count: size) }
    return try file.file.read(size, at: Int64(page - 1) * Int64(size), into: &buffer) == size
  }
}

/// The key of an index with one column: a value and the id of its row.
struct AppleIndexKey {
  /// The values that are compared, in SQLite's order. CFNetwork indexes no others.
  private enum Kind: UInt64 {
    case null, integer, text
  }

  private var kind = Kind.null
  private var number: Int64 = 0
  private var text: [UInt8] = []
  private var rowID: Int64 = 0

  /// Takes a value from the record of a row or of an index.
  ///
  /// - Parameters:
  ///   - column: The number of the value; `nil` for the id of the row, which a row does not store.
  ///   - bytes: The record, or its beginning.
  /// - Returns: `false` if there is no such value, or it is not compared.
  mutating func read(
    _ column: Int?, of header: RecordHeader?, in bytes: Span<UInt8>, row id: Int64
  ) -> Bool {
    rowID = id
    guard let column else {
      (kind, number) = (.integer, id)
      return true
    }
    guard let header, header.values.indices.contains(column) else { return false }
    let value = header.values[column]
    guard value.range.upperBound <= bytes.count else { return false }
    number = 0
    if value.type.isText {
      kind = .text
      text.replaceAll(with: bytes.extracting(value.range))
    } else if value.type.isNull {
      kind = .null
    } else if let integer = header.integer(column, in: bytes) {
      (kind, number) = (.integer, integer)
    } else {
      return false
    }
    return true
  }

  /// Whether an index can have this key after another one.
  func canFollow(_ other: borrowing AppleIndexKey, isUnique: Bool) -> Bool {
    if kind != other.kind { return kind.rawValue > other.kind.rawValue }
    switch kind {
    case .null: return rowID > other.rowID
    case .integer where number != other.number: return number > other.number
    case .integer: return !isUnique && rowID > other.rowID
    case .text:
      // The collation BINARY: as unsigned bytes, of which eight at a time are compared as a number.
      let (bytes, others) = (text.span, other.text.span)
      let common = min(bytes.count, others.count)
      var place = 0
      while place + 8 <= common {
        let (word, otherWord) = (bytes.word(at: place), others.word(at: place))
        if word != otherWord { return word.byteSwapped > otherWord.byteSwapped }
        place += 8
      }
      while place < common {
        if bytes[place] != others[place] { return bytes[place] > others[place] }
        place += 1
      }
      if bytes.count != others.count { return bytes.count > others.count }
      return !isUnique && rowID > other.rowID
    }
  }

  /// A digest of the key, which only this process can compute.
  func digest(seed: UInt64) -> UInt64 {
    // The kind by itself: together, NULL and a number could give the same word.
    var digest = Self.mixed(Self.mixed(seed, kind.rawValue), UInt64(bitPattern: number))
    if kind == .text {
      let bytes = text.span
      digest = Self.mixed(digest, UInt64(bytes.count))
      for place in stride(from: 0, to: bytes.count, by: 8) {
        digest = Self.mixed(digest, bytes.word(paddedAt: place))
      }
    }
    return Self.mixed(digest, UInt64(bitPattern: rowID))
  }

  /// The finalizer of SplitMix64, which maps numbers to numbers one to one.
  @inline(__always)
  private static func mixed(_ digest: UInt64, _ word: UInt64) -> UInt64 {
    var mixed = (digest &* 0x9E37_79B9_7F4A_7C15) ^ word
    mixed = (mixed ^ mixed &>> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed &>> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed &>> 31
  }
}
