import Bytes
import Files
import SQLite

extension AppleStoreEditor {
  /// The length of the header of a write-ahead log.
  private static let logHeaderLength: Int64 = 32
  /// How often the log is tried to be emptied while another process has the database open.
  private static let mostTries = 10

  public func overwriteRemovedFiles() throws(StoreError) {
    overwrites = true
    // SQLite deletes a rollback journal without overwriting it, unless it is persistent. The mode is one of the
    // connection and not of the database, except for a write-ahead log.
    if !hasLog { try run("PRAGMA journal_mode = PERSIST") }
  }

  public func erase(fully: Bool, unless shouldStop: () -> Bool) throws(StoreError) -> Bool {
    do {
      if hasLog, !inUse, try !overwriteLog() {
        // Another process has just opened it.
        inUse = true
      }
      guard fully else { return hasLog ? !inUse : try overwriteJournal() }
      try lookForOthers()
      if inUse { return try eraseWithoutBlocking(unless: shouldStop) }
      try connection.execute("PRAGMA cache_size = -512")
      do throws(SQLiteError) {
        guard try rewrite(unless: shouldStop) else { return false }
      } catch {
        guard error.kind == .busy else { throw error }
        // An app has it open, whether or not that showed before.
        inUse = true
        return try eraseWithoutBlocking(unless: shouldStop)
      }
      // The log has only the pages of the new database by now, and so needs no overwriting.
      return try hasLog ? checkpoint("TRUNCATE") : overwriteJournal()
    } catch let error as SQLiteError {
      throw StoreError(error, path: files.path)
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(.inputOutput, at: files.path)
    }
  }

  /// Empties the database of free pages, and the log of frames, as far as that needs no waiting.
  ///
  /// - Returns: `false`, as the gaps between the rows of a page can only be overwritten by rewriting the database.
  private func eraseWithoutBlocking(unless shouldStop: () -> Bool) throws -> Bool {
    _ = try compact(fully: false, unless: shouldStop)
    guard hasLog else {
      _ = try overwriteJournal()
      return false
    }
    // While a checkpoint waits for a reader, no process can write.
    connection.wait(milliseconds: 0)
    defer { connection.wait(milliseconds: wait) }
    for _ in 0..<Self.mostTries where !shouldStop() {
      // Most of the work is done by the first, during which other processes can write.
      if try checkpoint("PASSIVE"), try checkpoint("TRUNCATE") { break }
      CurrentProcess.sleep(milliseconds: 20)
    }
    return false
  }

  /// Moves all frames of the log into the database, and overwrites the log with zeros.
  ///
  /// - Returns: `false` if another process has the database open.
  private func overwriteLog() throws(SQLiteError) -> Bool {
    guard try checkpoint("FULL") else { return false }
    let version = try dataVersion()
    // In this mode, a transaction locks the database file itself, so that no process can even open it.
    try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.wait(milliseconds: 0)
    defer {
      connection.wait(milliseconds: wait)
      try? connection.execute("PRAGMA locking_mode = NORMAL")
      // The lock is released by the next transaction.
      try? connection.execute("SELECT 1 FROM sqlite_master")
    }
    do throws(SQLiteError) { try connection.execute("BEGIN IMMEDIATE") } catch {
      guard error.kind == .busy else { throw error }
      return false
    }
    do throws(SQLiteError) {
      // Otherwise the log has frames again that are not in the database.
      let isUnchanged = try dataVersion() == version
      // The header first: without it, SQLite ignores the log. With it, and some of the frames, SQLite would go back
      // to an earlier state of the database after a crash.
      if isUnchanged { overwrite(files.wal) }
      try connection.execute("ROLLBACK")
      return isUnchanged
    } catch {
      try? connection.execute("ROLLBACK")
      throw error
    }
  }

  /// Overwrites the rollback journal, which contains pages as they were before a transaction, and deletes it.
  ///
  /// - Returns: `true`.
  private func overwriteJournal() throws(SQLiteError) -> Bool {
    // While this process may write, no other one uses the journal: it belongs to no transaction, not even to a crashed one.
    try connection.execute("BEGIN IMMEDIATE")
    overwrite(files.journal)
    try connection.execute("ROLLBACK")
    try connection.execute("PRAGMA journal_mode = DELETE")
    try connection.execute("PRAGMA journal_mode = PERSIST")
    return true
  }

  /// Overwrites a file next to the database. No lock is lost by closing it, unlike the database and the index of the log.
  ///
  /// A failure is no error: the search for traces finds what is left.
  private func overwrite(_ path: String) {
    do throws(FileError) {
      let file = try OpenFile(overwriting: path)
      let status = try file.status()
      guard status.kind == .regular, status.linkCount == 1 else { return }
      try file.overwriteBeginning(Self.logHeaderLength)
      try file.synchronize()
      try file.overwrite()
      try file.synchronize()
    } catch {}
  }

  /// Runs a checkpoint, and returns whether it moved the whole log.
  private func checkpoint(_ mode: String) throws(SQLiteError) -> Bool {
    var rows = try connection.prepare("PRAGMA wal_checkpoint(\(mode))")
    guard try rows.step() else { return false }
    return rows.integer(at: 0) == 0 && rows.integer(at: 1) == rows.integer(at: 2)
  }
}

extension AppleBodyFiles {
  /// The number of files from which it is faster to sync the whole file system than each file.
  private static let manyFiles = 64

  /// Overwrites body files with zeros, and waits until that is on disk.
  ///
  /// A file with other names is not changed, as it may be part of a backup made of hard links.
  ///
  /// - Parameters:
  ///   - names: The names of the files, some of which may not exist.
  ///   - removal: Counts the files that cannot be overwritten, and those with other names.
  /// - Returns: The names of the files that can be removed now.
  borrowing func overwrite(
    _ names: [ByteString], into removal: inout Removal
  ) -> [ByteString] {
    switch directory {
    case .none: return names
    case .some(let directory):
      var done: [ByteString] = []
      for name in names {
        do throws(FileError) {
          let isAlone = try Self.overwrite(
            name, in: directory, synchronizing: names.count < Self.manyFiles)
          if !isAlone { removal.linkedFiles += 1 }
          done.append(name)
        } catch {
          // A row may refer to a file that does not exist.
          if error.kind == .notFound { done.append(name) } else { removal.orphanedFiles += 1 }
        }
      }
      if names.count >= Self.manyFiles { Self.synchronize(done, in: directory) }
      return done
    }
  }

  /// Overwrites a file, and returns whether it has no other names.
  private static func overwrite(
    _ name: ByteString, in directory: borrowing Directory, synchronizing: Bool
  ) throws(FileError) -> Bool {
    // A pipe must not even be opened. What is not a regular file is not removed either.
    guard let text = validated(name.bytes), try directory.status(of: text).kind == .regular else {
      return true
    }
    let file = try OpenFile(overwriting: name.bytes, in: directory)
    // Another file may have taken the name since.
    let status = try file.status()
    guard status.kind == .regular else { return true }
    guard status.linkCount == 1 else { return false }
    try file.overwrite()
    if synchronizing { try file.synchronize() }
    return true
  }

  private static func synchronize(_ names: [ByteString], in directory: borrowing Directory) {
    if (try? directory.synchronizeFileSystem()) == true { return }
    for name in names {
      if let file = try? OpenFile(reading: name.bytes, in: directory) { try? file.sendToDrive() }
    }
    try? directory.synchronize()
  }
}
