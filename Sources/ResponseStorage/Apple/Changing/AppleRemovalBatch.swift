import Bytes
import Files
import SQLite

/// The statements that delete the three rows of each response of a batch in one transaction.
///
/// A batch is read and deleted in small groups: then the pages that were read for the comparison are still in memory when
/// their rows are deleted. Only the rows that are deleted in the order of their keys follow at the end.
struct AppleRemovalBatch: ~Copyable {
  private var mark: Statement
  private var spare: Statement
  private var look: Statement
  /// Deletes a row of the table of responses.
  private var delete: Statement
  // These delete the rows that are still on the list from one table each.
  private var deleteResponses: Statement
  private var deleteBlobs: Statement
  private var deleteBodies: Statement
  /// Empties the list.
  private var clear: Statement
  /// The number of responses in a group. Their pages have to fit into SQLite's cache.
  static let groupLength = 512

  /// Whether rows are deleted in the order of their keys, which is faster, instead of the order of their ids.
  private let ordersByKey: Bool
  // The last response that was decoded, kept so that its memory is reused.
  private var found = StoredResponse(id: .row(0))
  private var memory = StoredResponse.SpareMemory()

  init(_ connection: borrowing Connection, ordersByKey: Bool) throws(SQLiteError) {
    // If this connection has removed a batch before, the table exists and is empty.
    // The list is a temporary table. A table in the cache itself would change its schema, and would make the app prepare
    // all of its statements again.
    try connection.execute("CREATE TEMP TABLE IF NOT EXISTS doomed(entry_ID INTEGER PRIMARY KEY)")
    let mark = try connection.prepare("INSERT INTO doomed VALUES (?1)")
    let spare = try connection.prepare("DELETE FROM doomed WHERE entry_ID = ?1")
    // SQLite keeps the order of LEFT JOINs as written, so each table is searched by ascending rowid.
    let look = try connection.prepare(
      """
      SELECT doomed.entry_ID, coalesce(r.entry_ID, p.entry_ID, b.entry_ID) IS NOT NULL,
        r.request_key, p.response_object, CASE WHEN b.isDataOnFS > 0 THEN b.receiver_data END
      FROM doomed
      LEFT JOIN \(AppleLayout.responses) r NOT INDEXED ON r.entry_ID = doomed.entry_ID
      LEFT JOIN \(AppleLayout.blobs) p NOT INDEXED ON p.entry_ID = doomed.entry_ID
      LEFT JOIN \(AppleLayout.bodies) b NOT INDEXED ON b.entry_ID = doomed.entry_ID
      ORDER BY doomed.entry_ID
      """)
    let delete = try connection.prepare(
      "DELETE FROM \(AppleLayout.responses) WHERE entry_ID = ?1")
    func deleteDoomed(of table: String) throws(SQLiteError) -> Statement {
      try connection.prepare(
        "DELETE FROM \(table) WHERE entry_ID IN (SELECT entry_ID FROM doomed)")
    }
    let deleteResponses = try deleteDoomed(of: AppleLayout.responses)
    let deleteBlobs = try deleteDoomed(of: AppleLayout.blobs)
    let deleteBodies = try deleteDoomed(of: AppleLayout.bodies)
    let clear = try connection.prepare("DELETE FROM doomed")
    self.delete = delete
    self.deleteResponses = deleteResponses
    self.deleteBlobs = deleteBlobs
    self.deleteBodies = deleteBodies
    self.clear = clear
    self.ordersByKey = ordersByKey
    self.mark = mark
    self.spare = spare
    self.look = look
  }

  /// Removes the rows of responses, within a transaction that was begun for writing before: no process can change rows between
  /// their comparison and their removal.
  ///
  /// - Parameters:
  ///   - first: The first responses.
  ///   - rest: The responses after these, of which as many are read as are removed.
  ///   - most: The maximum number of responses to remove.
  ///   - skipped: Receives the ids of responses that changed or were removed meanwhile.
  ///   - beforeCommit: Called with the names of the rows' body files before the removal is committed.
  /// - Returns: The number of responses, and the names of the body files that the removed rows referred to.
  mutating func remove(
    _ first: [ResponseVersion], and rest: inout some IteratorProtocol<ResponseVersion>,
    atMost most: Int, skipped: inout [StoredResponse.ID], beforeCommit: ([ByteString]) -> Void
  ) throws(SQLiteError) -> (count: Int, files: [ByteString]) {
    do throws(SQLiteError) {
      var rows = ordersByKey ? RowsByKey() : nil
      var names: [ByteString] = []
      var group = first
      var count = 0
      while !group.isEmpty {
        // One join over the marked rows is faster than a lookup for each response.
        try mark.run(for: group)
        // The names of body files are collected before the rows are deleted, as nothing else records
        // them.
        names += try spareChanged(group, keeping: &rows, skipped: &skipped)
        if rows == nil { try deleteResponses.runOnce() }
        try deleteBlobs.runOnce()
        try deleteBodies.runOnce()
        try clear.runOnce()
        WorkCounter.add(Int64(group.count))
        count += group.count
        group = rest.next(min(Self.groupLength, most - count))
      }
      if let rows = rows.take() {
        for row in rows.inOrderOfKeys() { try delete.run(for: row) }
      }
      // The intent must be on disk before the commit. If the process is killed between the two, the
      // rows are still there and refer to the files, which the next command finds out. The other
      // order would leave files that nothing mentions any more.
      beforeCommit(names)
      return (count, names)
    } catch {
      look.reset()
      delete.reset()
      deleteResponses.reset()
      deleteBlobs.reset()
      deleteBodies.reset()
      clear.reset()
      throw error
    }
  }

  /// Takes responses off the list that have changed since they were read.
  ///
  /// - Parameter rows: Receives the unchanged responses, unless it is `nil`.
  /// - Returns: The names of the body files of the unchanged responses.
  private mutating func spareChanged(
    _ responses: some Collection<ResponseVersion>, keeping rows: inout RowsByKey?,
    skipped: inout [StoredResponse.ID]
  ) throws(SQLiteError) -> [ByteString] {
    var names: [ByteString] = []
    var changed: [ResponseVersion] = []
    // The responses and the rows of `look` are both in ascending order of ids.
    for response in responses {
      guard case .row(let row) = response.id else {
        changed.append(response)
        continue
      }
      guard try look.step(), look.integer(at: 0) == row else {
        // A healthy database returns exactly one row for each marked id, in order. Going on after a
        // mismatch could compare a response with the row of another one, and remove what was never
        // selected.
        throw SQLiteError.damage("rows are out of order")
      }
      // CFNetwork keeps the id of a response that it stores again, so the same id does not prove
      // that it is still the response that was selected.
      if isUnchanged(response) {
        rows?.append(row, response.key)
        if look.type(at: 4) != .null { names.append(ByteString(look.bytes(at: 4))) }
      } else {
        changed.append(response)
      }
    }
    look.reset()
    try spare.run(for: changed)
    skipped += changed.map(\.id)
    return names
  }

  /// Whether the current row of `look` is still the response that was read.
  private mutating func isUnchanged(_ response: ResponseVersion) -> Bool {
    guard look.integer(at: 1) != 0, hasKey(response.key) else { return false }
    found.reset(response.id, reusing: &memory)
    if look.type(at: 3) != .null {
      // A response that cannot be decoded has no known time, now as when it was first read.
      look.withBytes(at: 3) { bytes in
        try? found.decodeResponseObject(bytes, .stored, reusing: &memory)
      }
    }
    return found.stored == response.stored
  }

  /// Whether the current row of `look` has this key.
  private borrowing func hasKey(_ key: ByteString?) -> Bool {
    // The bytes are compared in place: a `String` would compare by grapheme clusters, to which a
    // key in NFC and one in NFD are equal, although CFNetwork keeps them as two responses.
    guard let key, look.type(at: 2) != .null else { return key == nil && look.type(at: 2) == .null }
    return look.withBytes(at: 2) { bytes in
      let key = key.bytes.span
      guard bytes.count == key.count else { return false }
      for index in bytes.indices where bytes[index] != key[index] { return false }
      return true
    }
  }
}

extension Statement {
  /// Runs a statement without rows.
  fileprivate mutating func runOnce() throws(SQLiteError) {
    _ = try step()
    reset()
  }

  /// Runs the statement for the row of each response.
  fileprivate mutating func run(
    for responses: some Sequence<ResponseVersion>
  ) throws(SQLiteError) {
    for response in responses {
      if case .row(let row) = response.id { try run(for: row) }
    }
  }

  /// Runs the statement for a row.
  fileprivate mutating func run(for row: Int64) throws(SQLiteError) {
    try bind(integer: row, at: 1)
    _ = try step()
    reset()
  }
}
