import Files
import SQLite

extension AppleStore {
  static func mark(at path: String) throws(StoreError) -> StoreMark {
    let files = try AppleStoreFiles(at: path)
    let state = try files.state()
    let header = bytes(0..<100, of: files.database)
    let index = bytes(0..<96, of: files.shm)
    let indexIdentity = (try? FileStatus.of(files.shm))?.identity ?? []
    return StoreMark(
      of: state.database, [state.wal, state.journal], header: header + index,
      counter: counter(state.database.identity, header, indexIdentity, index))
  }

  /// Returns the number of ids that SQLite has given to entries, which it keeps in `sqlite_sequence`.
  public func entriesEverStored() throws -> Int64? {
    do throws(SQLiteError) {
      // Without AUTOINCREMENT there is no such table, and ids of removed rows are given again.
      var rows = try snapshot.connection.prepare(
        "SELECT seq FROM sqlite_sequence WHERE name = '\(AppleLayout.responses)' COLLATE NOCASE")
      // The row appears with the first entry.
      guard try rows.step() else { return 0 }
      guard rows.type(at: 0) == .integer, rows.integer(at: 0) >= 0 else { return nil }
      return rows.integer(at: 0)
    } catch {
      guard error.kind == .other else { throw try translated(error) }
      return nil
    }
  }

  /// Reads a part of a file without a lock; empty if that fails.
  ///
  /// Only while this process has no connection to the database, as closing a file drops its locks.
  private static func bytes(_ range: Range<Int64>, of file: String) -> [UInt8] {
    (try? OpenFile(reading: file).read(range.count, at: range.lowerBound)) ?? []
  }

  /// Returns the counter of transactions: in WAL mode in the index of the log ("WAL-mode File Format", §2.3.1), which
  /// begins with two equal copies of a header, otherwise in the header of the database ("Database File Format", §1.3.6).
  private static func counter(
    _ database: [UInt64], _ header: [UInt8], _ indexIdentity: [UInt64], _ index: [UInt8]
  ) -> StoreMark.Counter? {
    guard header.count == 100 else { return nil }
    guard header[18] == 2 else {
      let value = header[24..<28].reduce(0) { $0 << 8 | UInt32($1) }
      return StoreMark.Counter(file: database, value: value, beginsAtZero: false)
    }
    // Unequal copies mean that a transaction is being committed right now.
    guard index.count == 96, index[12] == 1, index[..<48].elementsEqual(index[48...]) else {
      return nil
    }
    // Numbers in the index are in the byte order of the processor.
    let value = index[8..<12].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    return StoreMark.Counter(file: indexIdentity, value: value, beginsAtZero: true)
  }
}
