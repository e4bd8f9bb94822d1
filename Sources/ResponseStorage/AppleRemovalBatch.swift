import SQLite

/// The statements that remove rows of an Apple store, all three of each response in one transaction.
struct AppleRemovalBatch: ~Copyable {
  private var look: Statement
  private var mark: Statement

  init(_ connection: borrowing Connection) throws(SQLiteError) {
    try connection.execute("CREATE TEMP TABLE doomed(entry_ID INTEGER PRIMARY KEY)")
    let look = try connection.prepare(
      """
      SELECT (SELECT request_key FROM \(AppleLayout.responses) WHERE entry_ID = ?1),
        (SELECT response_object FROM \(AppleLayout.blobs) WHERE entry_ID = ?1),
        (SELECT receiver_data FROM \(AppleLayout.bodies) WHERE entry_ID = ?1 AND isDataOnFS > 0),
        EXISTS (SELECT 1 FROM \(AppleLayout.responses) WHERE entry_ID = ?1)
        OR EXISTS (SELECT 1 FROM \(AppleLayout.blobs) WHERE entry_ID = ?1)
        OR EXISTS (SELECT 1 FROM \(AppleLayout.bodies) WHERE entry_ID = ?1)
      """)
    let mark = try connection.prepare("INSERT INTO doomed VALUES (?1)")
    self.look = look
    self.mark = mark
  }

  /// Removes the rows of responses, in one transaction.
  ///
  /// - Parameter skipped: Where the ids go of those that have changed or are gone.
  /// - Returns: The names of the body files that the rows named.
  mutating func remove(
    _ responses: ArraySlice<ResponseVersion>, _ connection: borrowing Connection,
    skipped: inout [StoredResponse.ID]
  ) throws(SQLiteError) -> [ByteString] {
    // From here on nobody else writes, so that what is looked at is what is removed.
    try connection.execute("BEGIN IMMEDIATE")
    let skippedBefore = skipped.count
    do throws(SQLiteError) {
      var names: [ByteString] = []
      for response in responses {
        guard case .row(let row) = response.id, try isUnchanged(response, row, &names) else {
          skipped.append(response.id)
          continue
        }
        try mark.bind(integer: row, at: 1)
        _ = try mark.step()
        mark.reset()
      }
      for table in [AppleLayout.responses, AppleLayout.blobs, AppleLayout.bodies] {
        try connection.execute(
          "DELETE FROM \(table) WHERE entry_ID IN (SELECT entry_ID FROM doomed)")
      }
      try connection.execute("DELETE FROM doomed")
      try connection.execute("COMMIT")
      return names
    } catch {
      // Some failures have rolled back already, and then there is nothing to.
      try? connection.execute("ROLLBACK")
      skipped.removeLast(skipped.count - skippedBefore)
      throw error
    }
  }

  /// Whether a response is there as it was when it was looked at; if so, notes its body file.
  private mutating func isUnchanged(
    _ response: ResponseVersion, _ row: Int64, _ names: inout [ByteString]
  ) throws(SQLiteError) -> Bool {
    look.reset()
    try look.bind(integer: row, at: 1)
    defer { look.reset() }
    guard try look.step(), look.integer(at: 3) != 0 else { return false }
    let key = look.type(at: 0) == .null ? nil : ByteString(look.bytes(at: 0))
    guard key == response.key else { return false }
    var found = StoredResponse(id: response.id)
    var memory = StoredResponse.SpareMemory()
    if look.type(at: 1) != .null {
      // What cannot be decoded was stored at no known time, then as now.
      look.withBytes(at: 1) { bytes in
        try? found.decodeResponseObject(bytes, .stored, reusing: &memory)
      }
    }
    guard found.stored == response.stored else { return false }
    if look.type(at: 2) != .null { names.append(ByteString(look.bytes(at: 2))) }
    return true
  }
}
