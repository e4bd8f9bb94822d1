import Bytes
import Files
import SQLite

/// One consistent state of an Apple store's database, open for reading without changing a byte.
///
/// How it is opened depends on whether another process has it open, and on its log and journal:
///
/// - Another process has it open: with SQLite's locks, like any reader. A shared lock, taken first, keeps
///   that process from removing the log on closing, which SQLite would then create again.
/// - No process has it open, and log and journal are empty: as an immutable file.
/// - No process has it open, and there is a log: without locks, with the log's index in memory.
/// - No process has it open, and a transaction was interrupted: SQLite has to roll it back, so it opens a
///   private copy.
///
/// Without a lock, changes by another process can only be detected: see ``verifyUnchanged()``.
struct AppleSnapshot: ~Copyable {
  let connection: Connection
  // It stays open until the end, also where no lock was taken: closing any descriptor of a file
  // drops all POSIX locks that this process has on it, and SQLite has some.
  private let lockFile: OpenFile
  private let files: AppleStoreFiles
  private let stateAtOpening: AppleStoreFiles.State?
  /// Whether another connection would see the same state: no process has the database open, and there is
  /// nothing but its file.
  private let canOpenAgain: Bool

  /// Whether another process had the database open.
  let inUse: Bool
  /// The id of that process, if the system reports it.
  let holder: Int32?
  /// Notes for the user about how the database was opened.
  let notes: [String]

  /// Opens the database.
  ///
  /// - Parameters:
  ///   - wait: How long to wait for a lock, in milliseconds.
  ///   - temporaryFolder: The folder for a private copy.
  init(of files: AppleStoreFiles, wait: Int32, temporaryFolder: String) throws(StoreError) {
    let state = try files.state()
    let lockFile: OpenFile
    let lock: RecordLock?
    do throws(FileError) {
      lockFile = try OpenFile(reading: files.database)
    } catch {
      throw StoreError(error, path: files.database)
    }
    try Self.checkHeader(of: lockFile, files)
    do throws(FileError) {
      lock = try DatabaseProbe.lockHeldElsewhere(on: lockFile, indexPath: files.shm)
      // If another process holds an exclusive lock, this fails, and SQLite waits for it below.
      // Without this lock, the app could close the database between the probe and the opening. The
      // last process to close it removes the log, and a reader would then create a new one.
      if lock != nil { _ = try lockFile.lockShared(DatabaseProbe.sharedLock) }
    } catch {
      throw StoreError(error, path: files.database)
    }
    var notes: [String] = []
    if state.database.linkCount > 1 {
      // SQLite derives the name of the log from that of the database, so two names of one file have
      // two logs. Its documentation lists this among the ways to corrupt a database ("How To
      // Corrupt An SQLite Database File", multiple links to the same file).
      notes.append("the database file has hard links, so SQLite cannot protect it")
    }
    if lock != nil {
      // Nothing has to be compared at the end: SQLite's locks keep the state of this transaction as
      // it is.
      connection = try Self.openShared(files, wait)
      stateAtOpening = nil
      canOpenAgain = false
    } else if try Self.hasHotJournal(files, state) {
      // SQLite refuses to read such a database without rolling back first, and rolling back writes
      // to it.
      connection = try Self.openCopy(files, state, temporaryFolder)
      notes.append("an unfinished transaction was rolled back in a private copy")
      stateAtOpening = state
      canOpenAgain = false
    } else {
      // Often all rows are in the log: opened as immutable, such a cache would look empty.
      connection = try Self.connect(files, state.hasLog ? .unlocked : .immutable, 0)
      stateAtOpening = state
      canOpenAgain = !state.hasLog
    }
    self.lockFile = lockFile
    self.files = files
    self.inUse = lock != nil
    // A process that is not visible to this one is reported as 0, an open file description lock as -1.
    holder = lock.flatMap { $0.holder > 0 ? $0.holder : nil }
    self.notes = notes
  }

  deinit {
    // The connection first: closing any descriptor of the file drops SQLite's locks.
    _ = consume connection
    _ = consume lockFile
  }

  /// Throws an error if a process has written to the database since it was opened without a lock.
  ///
  /// A process that only has it open meanwhile does no harm: every write changes one of the compared files.
  borrowing func verifyUnchanged() throws(StoreError) {
    guard let stateAtOpening else { return }
    guard (try? files.state()) == stateAtOpening else {
      throw StoreError(
        .changedWhileReading, at: files.path, because: "another process wrote to it")
    }
  }

  /// Copies the database and its log or journal into a folder. The copy has the state that is read here or,
  /// while an app is writing, a newer one.
  borrowing func copy(into folder: borrowing TemporaryDirectory) throws(StoreError) {
    let state = try files.state()
    do throws(FileError) {
      // Copy through the open descriptor: closing another one would drop SQLite's locks. Pages that a
      // checkpoint moves to the database meanwhile stay in the log, as this read transaction keeps it.
      try folder.copy(lockFile, as: AppleStoreWriter.databaseName)
      if state.hasLog { try folder.copy(files.wal, as: AppleStoreWriter.databaseName + "-wal") }
      if !inUse, state.journal != nil {
        try folder.copy(files.journal, as: AppleStoreWriter.databaseName + "-journal")
      }
    } catch {
      throw StoreError(writing: error)
    }
    try verifyUnchanged()
  }

  /// The database if it is large enough to be read by several threads, each with its own connection.
  var databaseForThreads: String? { database(largerThan: ByteCount(16 << 20)) }

  /// The same for threads that also read bodies, of which a small database can have many.
  var databaseForWork: String? { database(largerThan: ByteCount(256 << 10)) }

  private func database(largerThan size: ByteCount) -> String? {
    canOpenAgain && (stateAtOpening?.database.size ?? 0) > size ? files.database : nil
  }

  private static func connect(
    _ files: AppleStoreFiles, _ access: Connection.Access, _ wait: Int32
  ) throws(StoreError) -> Connection {
    do throws(SQLiteError) {
      let connection = try Connection(path: files.database, access: access, busyTimeout: wait)
      try begin(connection)
      return connection
    } catch {
      throw StoreError(error, path: files.path)
    }
  }

  private static func openShared(_ files: AppleStoreFiles, _ wait: Int32) throws(StoreError)
    -> Connection
  {
    do throws(SQLiteError) {
      let connection = try Connection(path: files.database, access: .shared, busyTimeout: wait)
      try begin(connection)
      return connection
    } catch {
      // The log's index is missing, or has no read mark to use: let SQLite create or mark it.
      // With the first way, SQLite only reads the index of the log. The second may write a read
      // mark into it, which is the one change that a reader of a live database cannot avoid.
      guard error.kind == .readOnly || error.kind == .cannotOpen else {
        throw StoreError(error, path: files.path)
      }
      return try connect(files, .sharedMarking, wait)
    }
  }

  /// Starts the read transaction. SQLite takes the snapshot at the first read, here of the schema.
  private static func begin(_ connection: borrowing Connection) throws(SQLiteError) {
    try connection.execute("BEGIN")
    // `BEGIN` alone takes no lock and no snapshot: until the first read, an app could still write.
    try connection.execute("SELECT count(*) FROM sqlite_master")
  }

  private static func openCopy(
    _ files: AppleStoreFiles, _ state: AppleStoreFiles.State, _ temporaryFolder: String
  ) throws(StoreError) -> Connection {
    let folder: TemporaryDirectory
    do throws(FileError) { folder = try TemporaryDirectory(in: temporaryFolder) } catch {
      throw StoreError(error, path: error.path)
    }
    do throws(FileError) {
      try folder.copy(files.database, as: "Cache.db")
      // The journal must have the name that belongs to the copy, or SQLite would ignore it, and
      // show half of a transaction.
      try folder.copy(files.journal, as: "Cache.db-journal")
      if state.hasLog { try folder.copy(files.wal, as: "Cache.db-wal") }
    } catch {
      throw StoreError(error, path: error.path)
    }
    // If an app has written meanwhile, the copied files may not belong together.
    // The comparison follows the copying: SQLite cannot tell whether the pages of a database and of
    // its journal are from the same moment.
    guard try files.state() == state else { throw StoreError(.changedWhileReading, at: files.path) }
    do throws(SQLiteError) {
      let connection = try Connection(path: folder.path + "/Cache.db", access: .readWrite)
      // SQLite rolls back here. The open copy can be read without its names, which are removed on return,
      // so that nothing is left however this process ends.
      try begin(connection)
      return connection
    } catch {
      throw StoreError(error, path: files.path)
    }
  }

  /// Throws an error if the file is not an SQLite database, before SQLite opens it: for an empty file with a
  /// log, SQLite would delete the log.
  private static func checkHeader(
    of file: borrowing OpenFile, _ files: AppleStoreFiles
  ) throws(StoreError) {
    let header: [UInt8]
    do throws(FileError) { header = try file.read(100, at: 0) } catch {
      throw StoreError(error, path: files.database)
    }
    // Empty files called `Cache.db` occur in practice: 11 were found in real collections.
    guard header.count == 100, header.starts(with: Array("SQLite format 3\0".utf8)) else {
      let reason = header.isEmpty ? "the file is empty" : "it is not an SQLite database"
      throw StoreError(.notACache, at: files.path, because: reason)
    }
  }

  /// Whether SQLite would roll back the journal, if no process is writing it: it looks at the first byte only.
  private static func hasHotJournal(
    _ files: AppleStoreFiles, _ state: AppleStoreFiles.State
  ) throws(StoreError) -> Bool {
    guard let size = state.journal?.size, size > 0 else { return false }
    do throws(FileError) {
      // SQLite can also end a transaction by overwriting the header of its journal with zeros.
      // In the mode PERSIST, the zeroed header is the commit. Taking such a journal for hot would
      // undo it.
      return try OpenFile(reading: files.journal).read(1, at: 0).contains { $0 != 0 }
    } catch {
      throw StoreError(error, path: files.journal)
    }
  }
}
