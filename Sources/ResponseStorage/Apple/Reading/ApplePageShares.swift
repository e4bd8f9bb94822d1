import SQLite

/// How much of the pages of a database the rows of a response and their index cells take.
///
/// A cell that fits *k* times into a page takes 1/*k* of it. Of a longer cell, the beginning is in a page with others, and the rest fills
/// overflow pages of its own ("Database File Format", §1.6). So the share depends on the row alone: not on how full pages are, nor on free
/// pages, the log, or who has the database open. The sum of all shares is close to the size of the database after it is rewritten.
struct ApplePageShares: Sendable {
  /// The lengths of the values of a response, in bytes; `nil` for `NULL`.
  struct Lengths {
    var key: Int64?
    var firstStored: Int64?
    var partition: Int64?
    var hashValue: Int64 = 0
    /// Those of the four property lists, in the order of the columns.
    var propertyLists: (Int64?, Int64?, Int64?, Int64?)
    var body: Int64?
  }

  /// A value in a cell of an index.
  private enum IndexColumn {
    case id, key, firstStored, partition, hashValue, other
  }

  /// The length of a page, in bytes. CFNetwork reserves no bytes at the end of a page.
  private let pageLength: Int64
  private let hasHashValue: Bool
  private let hasPartition: Bool
  private let hasBodyTable: Bool
  private let hasBodyFiles: Bool
  // The columns of each index, by table.
  private let ofResponses: [[IndexColumn]]
  private let ofBlobs: [[IndexColumn]]
  private let ofBodies: [[IndexColumn]]

  /// Reads the page size and the indexes.
  init(_ connection: borrowing Connection, _ layout: AppleLayout) throws(SQLiteError) {
    var row = try connection.prepare("PRAGMA page_size")
    pageLength = try row.step() ? max(512, row.integer(at: 0)) : 4_096
    (hasHashValue, hasPartition) = (layout.hasHashValue, layout.hasPartition)
    hasBodyTable = layout.bodyTable != AppleLayout.blobs
    hasBodyFiles = layout.hasBodyFiles
    ofResponses = try Self.indexes(of: AppleLayout.responses, connection)
    ofBlobs = try Self.indexes(of: AppleLayout.blobs, connection)
    ofBodies = hasBodyTable ? try Self.indexes(of: layout.bodyTable, connection) : []
  }

  private static func indexes(
    of table: String, _ connection: borrowing Connection
  ) throws(SQLiteError) -> [[IndexColumn]] {
    var indexes: [[IndexColumn]] = []
    var number: Int64?
    var rows = try connection.prepare(
      """
      SELECT list.seq, info.cid, lower(info.name)
      FROM pragma_index_list('\(table)') list, pragma_index_xinfo(list.name) info
      ORDER BY list.seq, info.seqno
      """)
    while try rows.step() {
      if rows.integer(at: 0) != number { indexes.append([]) }
      number = rows.integer(at: 0)
      let column: IndexColumn =
        switch String(decoding: rows.bytes(at: 2), as: UTF8.self) {
        // The id of the row at the end of each cell has no name.
        case _ where rows.integer(at: 1) == -1: .id
        case "entry_id": .id
        case "request_key": .key
        case "time_stamp": .firstStored
        case "partition": .partition
        case "hash_value": .hashValue
        default: .other
        }
      indexes[indexes.count - 1].append(column)
    }
    return indexes
  }

  /// Returns the share of the row in the table of responses, in bytes.
  func share(ofResponse id: Int64, _ lengths: Lengths) -> Int64 {
    // `version` and `storage_policy` are 0 or 1, which need no bytes of their own; the id is the row number of the table.
    var record = Record()
    for _ in 0..<3 { record.append(integer: 0) }
    if hasHashValue { record.append(integer: lengths.hashValue) }
    record.append(length: lengths.key)
    record.append(length: lengths.firstStored)
    if hasPartition { record.append(length: lengths.partition) }
    return tableShare(of: record, id) + indexShare(ofResponses, id, lengths)
  }

  /// Returns the share of the row in the table of property lists, in bytes.
  func share(ofPropertyLists id: Int64, _ lengths: Lengths) -> Int64 {
    var record = Record()
    record.append(integer: 0)
    let lists = lengths.propertyLists
    record.append(length: lists.0)
    record.append(length: lists.1)
    record.append(length: lists.2)
    record.append(length: lists.3)
    if !hasBodyTable { record.append(length: lengths.body) }
    return tableShare(of: record, id) + indexShare(ofBlobs, id, lengths)
  }

  /// Returns the share of the row in the table of bodies, in bytes.
  func share(ofBody id: Int64, _ lengths: Lengths) -> Int64 {
    var record = Record()
    record.append(integer: 0)
    if hasBodyFiles { record.append(integer: 0) }
    record.append(length: lengths.body)
    return tableShare(of: record, id) + indexShare(ofBodies, id, lengths)
  }

  private func indexShare(_ indexes: [[IndexColumn]], _ id: Int64, _ lengths: Lengths) -> Int64 {
    var share: Int64 = 0
    for columns in indexes {
      var record = Record()
      for column in columns {
        switch column {
        case .id: record.append(integer: id)
        case .key: record.append(length: lengths.key)
        case .firstStored: record.append(length: lengths.firstStored)
        case .partition: record.append(length: lengths.partition)
        case .hashValue: record.append(integer: lengths.hashValue)
        case .other: record.append(integer: 0)
        }
      }
      share += cellShare(
        record.byteCount, extra: 0, inPage: (pageLength - 12) * 64 / 255 - 23)
    }
    return share
  }

  private func tableShare(of record: Record, _ id: Int64) -> Int64 {
    cellShare(record.byteCount, extra: Self.varintLength(of: id), inPage: pageLength - 35)
  }

  /// Returns the share of a cell, in bytes.
  ///
  /// - Parameters:
  ///   - payload: The length of its record.
  ///   - extra: The length of what else it has, besides the length of the record.
  ///   - most: The longest record that is in a page as a whole.
  private func cellShare(_ payload: Int64, extra: Int64, inPage most: Int64) -> Int64 {
    var (local, overflow) = (payload, 0 as Int64)
    if payload > most {
      let least = (pageLength - 12) * 32 / 255 - 23
      let part = least + (payload - least) % (pageLength - 4)
      local = part <= most ? part : least
      // The number of the first overflow page is in the cell.
      overflow = (payload - local + pageLength - 5) / (pageLength - 4)
      local += 4
    }
    // A leaf page begins with 8 bytes, and has a pointer of two bytes to each cell.
    let cell = max(4, Self.varintLength(of: payload) + extra + local) + 2
    return pageLength / max(1, (pageLength - 8) / cell) + overflow * pageLength
  }

  /// The length of a record, which begins with the length of its header and the type of each value (§2.1).
  private struct Record {
    private var header: Int64 = 0
    private var values: Int64 = 0

    /// Adds a text or a BLOB of this length, or `NULL`.
    mutating func append(length: Int64?) {
      guard let length else { return header += 1 }
      // The type of a BLOB is 12 + 2 × its length, and that of a text is one more, which is as long.
      header += ApplePageShares.varintLength(of: 12 + 2 * length)
      values += length
    }

    mutating func append(integer: Int64) {
      header += 1
      let magnitude = integer < 0 ? ~integer : integer
      let length: Int64 =
        switch magnitude {
        case _ where integer == 0 || integer == 1: 0
        case ..<(1 << 7): 1
        case ..<(1 << 15): 2
        case ..<(1 << 23): 3
        case ..<(1 << 31): 4
        case ..<(1 << 47): 6
        default: 8
        }
      values += length
    }

    var byteCount: Int64 { header + (header < 127 ? 1 : 2) + values }
  }

  /// Returns the length of a variable-length integer (§1.6), in bytes.
  private static func varintLength(of number: Int64) -> Int64 {
    number < 0 ? 9 : max(1, (Int64(Int64.bitWidth - number.leadingZeroBitCount) + 6) / 7)
  }
}
