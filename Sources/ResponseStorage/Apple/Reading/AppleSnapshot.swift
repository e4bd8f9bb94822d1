import Bytes
import Files
import SQLite

/// One consistent state of an Apple store's database, open for reading without changing a byte.
///
/// How it is opened depends on the journal mode, on whether another process has it open, and on its log and journal.
///
/// With a write-ahead log, readers and writers do not wait for each other:
///
/// - Another process has it open: with SQLite's locks, like any reader. A shared lock, taken first, keeps
///   that process from removing the log on closing, which SQLite would then create again.
/// - No process has it open, and log and journal are empty: as an immutable file.
/// - No process has it open, and there is a log: without locks, with the log's index in memory.
///
/// With a rollback journal, a commit waits until all readers have released their locks, so none is held for as long as the
/// database is read:
///
/// - No process seems to use it: as an immutable file.
/// - A process uses it: a private copy, which is made under SQLite's lock. If making it takes too long, the database is read
///   as an immutable file, at a moment when no process writes to it.
///
/// In both modes, a transaction that was interrupted has to be rolled back, so SQLite opens a private copy.
///
/// Without a lock, changes by another process can only be detected: see ``verifyUnchanged()``.
struct AppleSnapshot: ~Copyable {
  let connection: Connection
  /// The tables and columns of the database; `nil` if it need not be a cache.
  let layout: AppleLayout?
  // It stays open until the end, also where no lock was taken: closing any descriptor of a file
  // drops all POSIX locks that this process has on it, and SQLite has some.
  private let database: OpenFile
  private let files: AppleStoreFiles
  private let usesLog: Bool
  private let stateAtOpening: AppleStoreFiles.State?
  /// Whether another connection would see the same state: nothing is read but the file itself, without locks.
  private let canOpenAgain: Bool

  /// Whether another process had the database open.
  let inUse: Bool
  /// The id of that process, if the system reports it.
  let holder: Int32?
  /// What is odd about the files, so that the cache is not changed.
  let oddities: [String]
  /// Notes for the user about the files, and how the database was opened.
  let notes: [String]

  /// The largest database of which a copy is made while an app waits.
  private static let mostCopied = ByteCount(64 << 20)
  /// How long that may take, in milliseconds. SQLite asks for a lock again each 25 to 100 ms.
  private static let longestCopy: Int64 = 50
  /// How long after a write an app may be about to write again, in milliseconds.
  private static let activeTime: Int64 = 2_000
  /// How long after a write the next one certainly has another time, in milliseconds: Linux takes the time of the last clock
  /// tick.
  private static let longestTick: Int64 = 50

  /// Opens the database, and reads its layout. Nothing is locked while it waits.
  ///
  /// - Parameters:
  ///   - wait: How long to try again while another process prevents it, in milliseconds.
  ///   - isCache: Whether the database must be a cache in UTF-8.
  /// - Throws: ``StoreError``.
  init(
    of files: AppleStoreFiles, wait: Int32, asCache isCache: Bool = true
  ) throws {
    var wait = LockWait(milliseconds: wait)
    while true {
      do {
        self = try Self(trying: files, isCache)
        return
      } catch let error as StoreError where error.isContention {
        guard wait.pause() else { throw error }
      }
    }
  }

  private init(
    trying files: AppleStoreFiles, _ isCache: Bool
  ) throws {
    let state = try files.state()
    let file: OpenFile
    let lock: RecordLock?
    do throws(FileError) { file = try OpenFile(reading: files.database) } catch {
      throw StoreError(error, path: files.database)
    }
    let usesLog = try Self.checkHeader(of: file, files) || state.hasLog
    do throws(FileError) {
      lock = try DatabaseProbe.lockHeldElsewhere(on: file, indexPath: files.shm)
    } catch {
      throw StoreError(error, path: files.database)
    }
    // Before SQLite opens the files.
    let oddities = try files.oddities(of: file)
    let hasJournal = try lock == nil && Self.hasHotJournal(files, state)
    // Where a transaction was interrupted, SQLite does not get to see the journal: as root, it would set its owner.
    let isActive =
      lock != nil || !usesLog && !hasJournal && state.isYounger(than: Self.activeTime)
    let opened =
      if isActive {
        usesLog
          ? try Self.openShared(files, file)
          : try Self.openActive(files, state, file)
      } else if hasJournal {
        try Self.openRolledBack(files, state, file)
      } else {
        try Self.openQuiet(files, state, file)
      }
    do {
      layout = isCache ? try AppleLayout(of: opened.connection, path: files.path) : nil
    } catch {
      // If the file changed meanwhile, report that: what was read of it may be no state that it ever had.
      try Self.verify(files, opened.state, usesLog)
      if let error = error as? SQLiteError { throw StoreError(error, path: files.path) }
      throw error
    }
    (self.oddities, notes) = (oddities, oddities + opened.notes)
    self.files = files
    self.usesLog = usesLog
    inUse = lock != nil
    // A process that is not visible to this one is reported as 0, an open file description lock as -1.
    holder = lock.flatMap { $0.holder > 0 ? $0.holder : nil }
    stateAtOpening = opened.state
    canOpenAgain = opened.canOpenAgain
    connection = opened.connection
    database = opened.file
  }

  deinit {
    // The connection first: closing any descriptor of the file drops SQLite's locks.
    _ = consume connection
    _ = consume database
  }

  /// Throws an error if a process has written to the database since it was opened without a lock.
  ///
  /// A process that only has it open meanwhile does no harm: every write changes one of the compared files.
  borrowing func verifyUnchanged() throws(StoreError) {
    try Self.verify(files, stateAtOpening, usesLog)
  }

  private static func verify(
    _ files: AppleStoreFiles, _ stateAtOpening: AppleStoreFiles.State?, _ usesLog: Bool
  ) throws(StoreError) {
    guard let stateAtOpening else { return }
    var state = try? files.state()
    // A rollback journal is written before the database is, by transactions that are yet to change it.
    if !usesLog { state?.journal = stateAtOpening.journal }
    guard state == stateAtOpening else { throw StoreError(changed: files) }
  }

  /// Copies the database and its log or journal into a folder. The copy has the state that is read here or,
  /// while an app is writing, a newer one.
  borrowing func copy(into folder: borrowing TemporaryDirectory) throws(StoreError) {
    let state = try files.state()
    do throws(FileError) {
      // Copy through the open descriptor: closing another one would drop SQLite's locks. Pages that a
      // checkpoint moves to the database meanwhile stay in the log, as this read transaction keeps it.
      try folder.copy(database, as: AppleStoreWriter.databaseName)
      if usesLog, state.hasLog {
        try folder.copy(files.wal, as: AppleStoreWriter.databaseName + "-wal")
      }
      if stateAtOpening?.journal != nil {
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
}

extension AppleSnapshot {
  /// A database that was opened.
  private struct Opened: ~Copyable {
    let connection: Connection
    let file: OpenFile
    /// The state that must not change until the end; `nil` if it does not matter.
    var state: AppleStoreFiles.State?
    var canOpenAgain = false
    var notes: [String] = []
  }

  /// Opens a database with a log that another process has open.
  private static func openShared(
    _ files: AppleStoreFiles, _ file: consuming OpenFile
  ) throws(StoreError) -> Opened {
    let isLocked: Bool
    do throws(FileError) {
      // Without this lock, the app could close the database between the probe and the opening. The
      // last process to close it removes the log, and a reader would then create a new one.
      isLocked = try DatabaseProbe.lockShared(file)
    } catch {
      throw StoreError(error, path: files.database)
    }
    guard isLocked else {
      throw StoreError(.inUse, at: files.path, because: "another process has locked it")
    }
    let connection: Connection
    do throws(SQLiteError) { connection = try connect(files.database, .shared) } catch {
      // The log's index is missing, or has no read mark to use: let SQLite create or mark it.
      // With the first way, SQLite only reads the index of the log. The second may write a read
      // mark into it, which is the one change that a reader of a live database cannot avoid.
      guard error.kind == .readOnly || error.kind == .cannotOpen else {
        throw StoreError(error, path: files.path)
      }
      do throws(SQLiteError) { connection = try connect(files.database, .sharedMarking) } catch {
        throw StoreError(error, path: files.path)
      }
    }
    // Nothing has to be compared at the end: SQLite's locks keep the state of this transaction as
    // it is.
    return Opened(connection: connection, file: file)
  }

  /// Opens a database that no process writes to.
  private static func openQuiet(
    _ files: AppleStoreFiles, _ state: AppleStoreFiles.State, _ file: consuming OpenFile
  ) throws(StoreError) -> Opened {
    do throws(SQLiteError) {
      // Often all rows are in the log: opened as immutable, such a cache would look empty.
      return Opened(
        connection: try connect(files.database, state.hasLog ? .unlocked : .immutable), file: file,
        state: state, canOpenAgain: !state.hasLog)
    } catch {
      // An app has begun to write since.
      guard (try? files.state()) == state else { throw StoreError(changed: files) }
      throw StoreError(error, path: files.path)
    }
  }

  /// Opens a database with a rollback journal that another process uses, or may be about to use.
  private static func openActive(
    _ files: AppleStoreFiles, _ state: AppleStoreFiles.State, _ file: consuming OpenFile
  ) throws(StoreError) -> Opened {
    let canCopy = state.database.size <= mostCopied
    // So that the copy does not wait for the disk while an app waits for the copy.
    if canCopy { try readAll(of: file, files) }
    let reader: Connection
    do throws(SQLiteError) { reader = try connect(files.database, .shared) } catch {
      // SQLite would have to roll an interrupted transaction back.
      guard error.kind == .readOnly else { throw StoreError(error, path: files.path) }
      return try openRolledBack(files, state, file)
    }
    // No process writes to the database as long as this connection is open.
    let present = try files.state()
    guard present.database.identity == state.database.identity else {
      throw StoreError(changed: files)
    }
    // Without room for a copy, it can still be read as it is.
    let copy = canCopy ? try? openCopy(of: file) : nil
    _ = consume reader
    if let copy { return copy }
    // Each write after this moment must be noticed.
    guard !present.isYounger(than: longestTick) else { throw StoreError(changed: files) }
    return try openQuiet(files, present, file)
  }

  /// Reads a file once, so that it is in memory.
  private static func readAll(
    of file: borrowing OpenFile, _ files: AppleStoreFiles
  ) throws(StoreError) {
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    var offset: Int64 = 0
    do throws(FileError) {
      while true {
        let count = try file.read(into: &buffer, at: offset)
        if count == 0 { return }
        offset += Int64(count)
      }
    } catch {
      throw StoreError(error, path: files.path)
    }
  }

  /// Opens a private copy, of which nothing is left however this process ends.
  ///
  /// - Returns: `nil` if making it takes too long.
  private static func openCopy(
    of file: borrowing OpenFile
  ) throws -> Opened? {
    let folder = try TemporaryDirectory(in: TemporaryFile.folder)
    guard try folder.copy(file, as: databaseName, within: longestCopy) else { return nil }
    let path = "\(folder.path)/\(databaseName)"
    // The open copy can be read without its name, which is removed on return.
    return Opened(connection: try connect(path, .immutable), file: try OpenFile(reading: path))
  }

  /// Opens a private copy in which an interrupted transaction is rolled back.
  private static func openRolledBack(
    _ files: AppleStoreFiles, _ state: AppleStoreFiles.State, _ file: consuming OpenFile
  ) throws(StoreError) -> Opened {
    let folder: TemporaryDirectory
    do throws(FileError) { folder = try TemporaryDirectory(in: TemporaryFile.folder) } catch {
      throw StoreError(error, path: error.path)
    }
    var failure: FileError?
    do throws(FileError) {
      try folder.copy(file, as: databaseName)
      // The journal must have the name that belongs to the copy, or SQLite would ignore it, and
      // show half of a transaction.
      try folder.copy(files.journal, as: databaseName + "-journal")
      if state.hasLog { try folder.copy(files.wal, as: databaseName + "-wal") }
    } catch { failure = error }
    // If an app has written or rolled back meanwhile, the copied files may not belong together.
    // The comparison follows the copying: SQLite cannot tell whether the pages of a database and of
    // its journal are from the same moment.
    guard try files.state() == state else { throw StoreError(changed: files) }
    if let failure {
      // The transaction had ended before.
      if failure.kind == .notFound { throw StoreError(changed: files) }
      throw StoreError(failure, path: failure.path)
    }
    do throws(SQLiteError) {
      // SQLite rolls back here. The open copy can be read without its names, which are removed on return,
      // so that nothing is left however this process ends.
      return Opened(
        connection: try connect("\(folder.path)/\(databaseName)", .readWrite), file: file,
        state: state, notes: ["an unfinished transaction was rolled back in a private copy"])
    } catch {
      throw StoreError(error, path: files.path)
    }
  }

  /// The name of a private copy.
  private static var databaseName: String { AppleStoreWriter.databaseName }

  /// Opens a database, and starts the read transaction.
  private static func connect(
    _ path: String, _ access: Connection.Access
  ) throws(SQLiteError) -> Connection {
    // Without waiting: whoever has the lock may wait for one of this process.
    let connection = try Connection(path: path, access: access)
    // SQLite takes the snapshot at the first read, here of the schema. `BEGIN` alone takes no lock and no
    // snapshot: until then, an app could still write.
    try connection.execute("BEGIN")
    try connection.execute("SELECT count(*) FROM sqlite_master")
    return connection
  }

  /// Throws an error if the file is not an SQLite database, before SQLite opens it: for an empty file with a
  /// log, SQLite would delete the log.
  ///
  /// - Returns: Whether the database has a write-ahead log.
  private static func checkHeader(
    of file: borrowing OpenFile, _ files: AppleStoreFiles
  ) throws(StoreError) -> Bool {
    let header: [UInt8]
    do throws(FileError) { header = try file.read(100, at: 0) } catch {
      throw StoreError(error, path: files.database)
    }
    // Empty files called `Cache.db` occur in practice: 11 were found in real collections.
    guard header.count == 100, header.starts(with: Array("SQLite format 3\0".utf8)) else {
      let reason = header.isEmpty ? "the file is empty" : "it is not an SQLite database"
      throw StoreError(.notACache, at: files.path, because: reason)
    }
    // The version that is needed to write it: "Database File Format", 1.3.3.
    return header[18] == 2
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
      // The transaction has ended since.
      if error.kind == .notFound { throw StoreError(changed: files) }
      throw StoreError(error, path: files.journal)
    }
  }
}

extension AppleStoreFiles.State {
  /// Whether the database was written in the last milliseconds.
  fileprivate func isYounger(than milliseconds: Int64) -> Bool {
    let age = LocalTime.now() * 1_000 - Double(database.modified) / 1_000_000
    // A time in the future is of another clock, and says nothing.
    return -1_000..<Double(milliseconds) ~= age
  }
}

extension StoreError {
  fileprivate init(changed files: AppleStoreFiles) {
    self.init(.changedWhileReading, at: files.path, because: "another process wrote to it")
  }
}
