public import Bytes
import Files
import SQLite

/// An Apple store that is open for changes.
///
/// All changes are SQL on the live database, in transactions that span the three tables. Body files
/// are removed after the commit that removes their rows, so that no row ever refers to a file that
/// this tool removed. The schema, `user_version`, journal mode and `auto_vacuum` are not changed, except that the first
/// rows of a store that nobody has open get their indexes last (``DeferredIndexes``).
public final class AppleStoreEditor: ResponseStore {
  let files: AppleStoreFiles
  let connection: Connection
  // The connection is declared first, and so closed first: closing any descriptor of the file drops SQLite's locks.
  let lockFile: OpenFile
  /// Whether the database has a write-ahead log instead of a rollback journal.
  let hasLog: Bool
  /// How long the last transaction has waited for readers before its commit.
  var readerWait = Duration.zero
  var bodies: AppleBodyFiles
  /// What the other databases in the folder say about the body files. It is read again before files are removed.
  var neighbours: NeighbouringDatabases
  let intents: IntentFolder?
  /// The record of what this command is about to do; `nil` until there is something to record.
  var intent: OpenIntent?
  /// Whether recording an intent has failed, so that it is not tried again.
  var hasNoIntent = false
  /// Whether body files are overwritten before they are removed.
  var overwrites = false
  /// Whether another process had the database open when it was opened here, or was found to have it open since.
  public internal(set) var inUse: Bool
  /// How long to wait for another process's lock, in milliseconds.
  let wait: Int32

  /// Opens a store for changes.
  ///
  /// - Parameters:
  ///   - path: The database, or the folder of a `Cache.db`.
  ///   - wait: How long to wait for another process's lock, in milliseconds.
  ///   - verifying: Whether SQLite checks the database first, which reads all of it.
  ///   - intents: The folder in which changes are recorded before they are made, or `nil` for none.
  /// - Throws: ``StoreError``, also for stores that can be read but not changed: schemas other than 25 to
  ///   203, triggers, a body folder that is not a folder.
  public init(
    changing path: String, wait: Int32, verifying: Bool, intents: IntentFolder? = nil
  ) throws(StoreError) {
    self.intents = intents
    self.wait = wait
    let files = try AppleStoreFiles(at: path)
    neighbours = NeighbouringDatabases(of: files)
    // This checks that all files are regular ones, before SQLite opens any of them.
    _ = try files.state()
    // Checked before anything is changed. Rows can be removable while body files are not, for
    // example if the folder belongs to another user, and then every removed row would leave an
    // orphan.
    try files.checkWriting()
    // The probe comes before SQLite opens the file: closing the probe's descriptor drops SQLite's locks.
    let lockFile: OpenFile
    do throws(FileError) { lockFile = try OpenFile(reading: files.database) } catch {
      throw StoreError(error, path: files.database)
    }
    let isLocked = try Self.isLockedElsewhere(lockFile, files)
    if let oddity = try files.oddities(of: lockFile).first {
      throw StoreError(.unsupported, at: path, because: oddity)
    }
    let connection = try Self.connect(files, wait)
    let hasLog = try Self.hasLog(connection, path)
    // A trigger runs inside of a DELETE. One was made that empties the whole cache when a single
    // row is removed, for which SQLite reports success, and another that fills the disk.
    try Self.guardLayout(of: connection, path)
    // Of 40 databases with random bytes changed, DELETE worked in 39. So SQLite has to look for
    // damage first; writing into a damaged b-tree spreads it.
    if verifying {
      try Self.verify(files, connection, hasLog: hasLog, wait)
    }
    try AppleBodyFiles.guardFolder(at: files.bodies)
    bodies = AppleBodyFiles(at: files.bodies)
    self.files = files
    self.connection = connection
    self.lockFile = lockFile
    self.hasLog = hasLog
    inUse = isLocked
  }

  private static func connect(
    _ files: AppleStoreFiles, _ wait: Int32
  ) throws(StoreError) -> Connection {
    do throws(SQLiteError) {
      // Body files are removed after a commit, which this access puts on the disk.
      let connection = try Connection(
        path: files.database, access: .readWrite, busyTimeout: wait)
      // The temporary table of a batch fits into memory; what sorts or copies a table sets FILE.
      try connection.execute("PRAGMA temp_store = MEMORY")
      // In KiB: removals change pages all over the table and its indexes. With SQLite's default of 2 MB, each of these
      // pages is written to the log again and again: removing 100,000 of 1,000,000 responses in the order of ids then
      // takes 7.7 seconds instead of 6.5.
      try connection.execute("PRAGMA cache_size = -65536")
      // Removed responses may contain credentials, which would stay readable in free pages.
      try connection.execute("PRAGMA secure_delete = ON")
      return connection
    } catch {
      throw StoreError(error, path: files.path)
    }
  }

  private static func isLockedElsewhere(
    _ file: borrowing OpenFile, _ files: AppleStoreFiles
  ) throws(StoreError) -> Bool {
    do throws(FileError) {
      // CFNetwork keeps its connection open for as long as the app runs. With a write-ahead log,
      // SQLite holds a shared lock on the log's index all that time, which is what the probe finds.
      return try DatabaseProbe.lockHeldElsewhere(on: file, indexPath: files.shm) != nil
    } catch {
      throw StoreError(error, path: files.database)
    }
  }

  private static func hasLog(
    _ connection: borrowing Connection, _ path: String
  ) throws(StoreError) -> Bool {
    do throws(SQLiteError) {
      var rows = try connection.prepare("PRAGMA journal_mode")
      if try rows.step(), rows.bytes(at: 0) == Array("wal".utf8) { return true }
      // Without a log, pages that are written before the commit lock out all readers until then.
      try connection.execute("PRAGMA cache_spill = OFF")
      return false
    } catch {
      throw StoreError(error, path: path)
    }
  }

  /// Throws an error if the store can be read but not changed.
  private static func guardLayout(
    of connection: borrowing Connection, _ path: String
  ) throws(StoreError) {
    let layout: AppleLayout
    do { layout = try AppleLayout(of: connection, path: path) } catch let error as StoreError {
      throw error
    } catch let error as SQLiteError {
      throw StoreError(error, path: path)
    } catch {
      throw StoreError(.damaged, at: path)
    }
    // CFNetwork drops all tables of a schema that it does not know. A tool that guesses what such a
    // cache means can only make it worse.
    if let readOnlyReason = layout.readOnlyReason {
      throw StoreError(.unsupported, at: path, because: readOnlyReason)
    }
  }

  /// Has SQLite look for damage in a database.
  ///
  /// With a rollback journal, an app could not commit while SQLite reads the database under its lock. So it reads a snapshot
  /// without one.
  static func verify(
    _ files: AppleStoreFiles, _ connection: borrowing Connection, hasLog: Bool, _ wait: Int32
  ) throws(StoreError) {
    guard !hasLog else { return try verify(connection, files.path) }
    var wait = LockWait(milliseconds: wait)
    while true {
      do {
        let snapshot = try AppleSnapshot(of: files, wait: 0)
        do { try verify(snapshot.connection, files.path) } catch {
          // What was read may be no state that it ever had.
          try snapshot.verifyUnchanged()
          throw error
        }
        return try snapshot.verifyUnchanged()
      } catch let error as StoreError where error.isContention {
        guard wait.pause() else { throw error }
      } catch let error as StoreError {
        throw error
      } catch {
        throw StoreError(.inputOutput, at: files.path, because: "\(error)")
      }
    }
  }

  private static func verify(
    _ connection: borrowing Connection, _ path: String
  ) throws(StoreError) {
    do throws(SQLiteError) {
      var rows = try connection.prepare("PRAGMA quick_check(1)")
      guard try rows.step() else { return }
      let answer = String(decoding: rows.bytes(at: 0), as: UTF8.self)
      // `quick_check` leaves out the comparison of the indexes with the tables, which makes it
      // about five times as fast as `integrity_check` (1.5 s instead of 7 s for 1,000,000
      // responses).
      if answer != "ok" { throw SQLiteError.damage(AppleStore.damage(in: answer).first ?? answer) }
    } catch {
      throw StoreError(error, path: path)
    }
  }
}

extension AppleStoreEditor {
  public func remove(
    _ responses: inout some IteratorProtocol<ResponseVersion>, into removal: inout Removal,
    unless shouldStop: () -> Bool
  ) throws(StoreError) {
    do throws(SQLiteError) {
      var batch = try AppleRemovalBatch(connection, ordersByKey: !mayBeInUse)
      var named: [UUIDBytes: Int]?
      // While an app is running, it waits for each batch, so batches start small and adapt to the time
      // they take. Otherwise a batch is as long as a user may wait after Control-C: each batch writes
      // pages again that the batch before it has written.
      // CFNetwork sets a busy timeout of one second, and this tool promises to keep an app waiting
      // for less than 100 ms.
      var batchSize = mayBeInUse ? 32 : 200_000
      let clock = ContinuousClock()
      while true {
        // A small batch is complete, so that it can be tried again.
        let isWhole = mayBeInUse
        let group = responses.next(isWhole ? batchSize : AppleRemovalBatch.groupLength)
        guard !group.isEmpty, !shouldStop() else { break }
        var start = clock.now
        let skipped = removal.skipped.count
        var (count, names): (Int, [ByteString]) = (0, [])
        do throws(SQLiteError) {
          try transact { () throws(SQLiteError) in
            start = clock.now
            removal.skipped.removeLast(removal.skipped.count - skipped)
            (count, names) = try batch.remove(
              group, and: &responses, atMost: isWhole ? group.count : batchSize,
              skipped: &removal.skipped, beforeCommit: noteRemoval)
          }
        } catch {
          if error.kind != .busy, wasRemoved(group, but: removal.skipped[skipped...]) {
            // The next command removes the files.
            removal.visited += count
            removal.orphanedFiles += names.count
            intent?.keep()
          } else {
            // Nothing of this batch was removed, so none of its responses was skipped, and no file lost its row.
            removal.skipped.removeLast(removal.skipped.count - skipped)
            intent?.settleBatch()
          }
          throw error
        }
        let took = clock.now - start - readerWait
        removal.visited += count
        if !names.isEmpty {
          // Only after the commit of the batch. If files went first and the process died, rows
          // would refer to missing files: of 200 simulated power failures, 98 ended so.
          try unlink(names, &named, &removal)
          if removal.orphanedFiles > 0 { intent?.keep() }
          // The files of the batch are removed and need no record any more. One that could not be
          // removed stays in it for the next command.
          intent?.settleBatch()
        }
        guard mayBeInUse else { continue }
        if took < .milliseconds(10) { batchSize = min(batchSize * 2, 4_096) }
        // Well below 100 ms, as the time that a batch takes is known only once it is over.
        if took > .milliseconds(30) { batchSize = max(batchSize / 2, smallestBatch) }
        // SQLite polls for the lock, so an app that waits needs a pause to get it.
        pauseForOthers(after: took)
      }
      // The removals must be on disk before the intent's removal is.
      if intent != nil { bodies.synchronize() }
    } catch {
      throw StoreError(error, path: files.path)
    }
  }

  /// Whether a batch was removed although its commit has failed: with a rollback journal, the commit is the end of the journal, and
  /// an error can follow that, as when the folder cannot be synchronized.
  private func wasRemoved(
    _ batch: [ResponseVersion], but skipped: ArraySlice<StoredResponse.ID>
  ) -> Bool {
    let skipped = Set(skipped)
    guard !hasLog, case .row(let row)? = batch.first(where: { !skipped.contains($0.id) })?.id else {
      return false
    }
    do throws(SQLiteError) {
      var rows = try connection.prepare(
        "SELECT 1 FROM \(AppleLayout.responses) WHERE entry_ID = \(row)")
      return try !rows.step()
    } catch { return false }
  }

  /// Removes the body files of removed rows, except those that other rows, of this database or of another one, still refer to.
  ///
  /// - Parameter named: The number of rows that refer to each file; counted on first use.
  func unlink(
    _ names: [ByteString], _ named: inout [UUIDBytes: Int]?, _ removal: inout Removal
  ) throws(SQLiteError) {
    let files = names.compactMap { name in UUIDBytes(name.bytes).map { (name: name, id: $0) } }
    var counts: [UUIDBytes: Int]
    if let known = named {
      counts = known
      // Stays `nil` if an error is thrown below, so that the rows are counted again.
      named = nil
      // Counted after an earlier batch, so subtract this batch's rows. A file stored since had one row.
      for file in files { counts[file.id, default: 1] -= 1 }
    } else {
      // Two rows with one file are possible in a hostile or restored cache. Removing the file with
      // the first row would take the body of the other one.
      counts = try countRowsByFile()
    }
    // Now, as a database may have been added or changed since the rows were selected. Only the first time this waits for the
    // lock of an app that has another database open.
    if neighbours.haveChanged() { neighbours.read(waiting: neighbours.wasRead ? 0 : wait) }
    // A file that cannot be removed is no reason to stop: its row is already gone, and the file is
    // counted as an orphan that a repair finds.
    var doomed: [ByteString] = []
    for file in files where counts[file.id, default: 0] <= 0 {
      if neighbours.mayName(file.id) {
        if bodies.version(of: file.name) != nil { removal.keptFiles += 1 }
      } else {
        doomed.append(file.name)
      }
    }
    if overwrites { doomed = bodies.overwrite(doomed, into: &removal) }
    for name in doomed {
      do throws(FileError) {
        removal.countFile(try bodies.remove(name))
      } catch {
        removal.orphanedFiles += 1
      }
    }
    named = counts
  }

  private func countRowsByFile() throws(SQLiteError) -> [UUIDBytes: Int] {
    var counts: [UUIDBytes: Int] = [:]
    try forEachBodyFileName { counts[$0, default: 0] += 1 }
    return counts
  }
}

extension AppleStoreEditor {
  /// The number of staged bodies from which it is faster to sync the whole file system, including the
  /// writes of other processes, than each file.
  private static let manyBodies = 64

  public func synchronizeStaged(_ names: [ByteString]) throws(StoreError) {
    try sync(of: names).wait()
  }

  /// Prepares a sync of staged bodies and their names; that of many begins at once.
  func sync(of names: [ByteString]) throws(StoreError) -> StagedFileSync {
    // The intent must be on disk before the files: after a crash it is how they are found as orphans.
    if !names.isEmpty { intent?.synchronize() }
    return StagedFileSync(
      of: names, in: files.bodies, syncingFileSystem: names.count >= Self.manyBodies)
  }
}

/// A sync of staged bodies, which must have ended before rows that refer to them are committed.
///
/// An `fsync` of a file does not promise that its name is on disk; only one of the folder does. Without these syncs, a
/// simulated power failure left rows without body files in 48 of 200 cases, although killing the process never did.
struct StagedFileSync {
  private let names: [ByteString]
  private let folder: String
  /// One `syncfs` makes the same promise for all files at once. In an import of 100,000 responses, nearly all of the
  /// time went into one `fsync` for each body.
  private let fileSystemSync: FileSystemSync?

  /// Prepares a sync of the files with these names.
  ///
  /// - Parameter syncingFileSystem: Whether to sync all of the file system, which another thread begins at once.
  init(of names: [ByteString], in folder: String, syncingFileSystem: Bool) {
    (self.names, self.folder) = (names, folder)
    fileSystemSync = syncingFileSystem ? FileSystemSync(of: folder) : nil
  }

  /// Waits until the files and their names are on disk.
  func wait() throws(StoreError) {
    guard !names.isEmpty else { return }
    do throws(FileError) {
      if try fileSystemSync?.wait() ?? false { return }
      let folder = try Directory(folder)
      for name in names { try OpenFile(reading: name.bytes, in: folder).sendToDrive() }
      try folder.synchronize()
    } catch {
      throw StoreError(writing: error)
    }
  }
}

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
