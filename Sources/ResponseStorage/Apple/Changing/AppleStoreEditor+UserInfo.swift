import SQLite

extension AppleStoreEditor {
  /// The rows changed in one transaction, which limits how long an app waits for the write lock.
  private static let batchSize = 256

  public func change(
    _ changes: [UserInfoChange], into changed: inout Set<StoredResponse.ID>,
    unless shouldStop: () -> Bool
  ) throws(StoreError) {
    do throws(SQLiteError) {
      var update = try connection.prepare(
        // The old bytes are part of the condition. An app that has stored the response again in the
        // meantime keeps what it has attached since.
        "UPDATE \(AppleLayout.blobs) SET user_info = ?1 WHERE entry_ID = ?2 AND user_info = ?3 RETURNING 1"
      )
      var rest = changes[...]
      while !rest.isEmpty, !shouldStop() {
        let batch = rest.prefix(Self.batchSize)
        rest = rest.dropFirst(batch.count)
        changed.formUnion(
          try transact { () throws(SQLiteError) in try change(batch, by: &update) })
        pauseForOthers()
      }
    } catch {
      throw StoreError(error, path: files.path)
    }
  }

  private func change(
    _ changes: ArraySlice<UserInfoChange>, by update: inout Statement
  ) throws(SQLiteError) -> Set<StoredResponse.ID> {
    do throws(SQLiteError) {
      var changed: Set<StoredResponse.ID> = []
      for change in changes {
        guard case .row(let row) = change.id else { continue }
        if let new = change.new {
          try update.bind(blob: new, at: 1)
        } else {
          try update.bindNull(at: 1)
        }
        try update.bind(integer: row, at: 2)
        try update.bind(blob: change.old, at: 3)
        if try update.step() { changed.insert(change.id) }
        update.reset()
      }
      return changed
    } catch {
      update.reset()
      throw error
    }
  }
}
