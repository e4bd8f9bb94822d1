internal import CSQLite
internal import Files

/// A connection to one SQLite database file.
///
/// A connection has a single owner and closes when that owner's lifetime ends. Statements hold no
/// reference to it: `sqlite3_close_v2` keeps the file open until the last of them is finalized.
@safe
public struct Connection: ~Copyable {
  /// How a connection accesses its file.
  public enum Access: Hashable, Sendable {
    /// Reads a database that other processes may be writing, with SQLite's locks. The index of the
    /// write-ahead log is used as it is and never created.
    case shared

    /// Like `shared`, but may move a read mark in the index of the log if none of them fits.
    case sharedMarking

    /// Reads a database that no process has open and that has no log: takes no lock and ignores log and
    /// journal. Gives wrong results if either exists.
    case immutable

    /// Reads a database that no process has open, with its log: takes no lock and keeps the index of the log
    /// in memory. Gives wrong results if another process opens the database meanwhile.
    case unlocked

    /// Reads and writes an existing database. A commit is on disk before other connections see it: `PRAGMA synchronous`
    /// is `EXTRA`, and must not be changed.
    case readWrite

    /// Creates a database, or opens it if it exists.
    case create

    /// Creates an unnamed database that only this connection can see; the path must be empty.
    case temporary
  }

  /// The largest value, in bytes, that can be read or written as a whole; larger ones are read in chunks as
  /// a ``Blob``.
  public static let largestValue: Int32 = 32 << 20

  let handle: OpaquePointer

  /// Opens the database file at `path`, which must not be a symbolic link.
  ///
  /// - Parameters:
  ///   - access: How to access the file.
  ///   - busyTimeout: How long to wait for a lock, in milliseconds.
  public init(path: String, access: Access, busyTimeout: Int32 = 0) throws(SQLiteError) {
    unsafe handle = try Self.open(path, access, busyTimeout)
  }

  /// The result code of having SQLite count its memory. Apple's library does not do that by default
  /// (`SQLITE_DEFAULT_MEMSTATUS=0`), and then ignores the limit that ``harden(_:isReading:)`` sets.
  private static let countsMemory = csqlite_count_memory()

  /// Returns a handle that the caller must close.
  private static func open(
    _ path: String, _ access: Access, _ busyTimeout: Int32
  ) throws(SQLiteError) -> OpaquePointer {
    // The file systems below are the first use of SQLite, after which this cannot be changed.
    _ = countsMemory
    var handle: OpaquePointer?
    var code = unsafe sqlite3_open_v2(
      uri(for: path, access), &handle, flags(for: access), fileSystem(for: access))
    if code == SQLITE_OK, access == .unlocked, let handle = unsafe handle {
      // Before the first access, so that the log's index is never put into a file.
      code = unsafe execute("PRAGMA locking_mode = EXCLUSIVE", handle)
    }
    if code == SQLITE_OK, let handle = unsafe handle {
      code = unsafe configure(handle, for: access, busyTimeout)
    }
    guard code == SQLITE_OK, let handle = unsafe handle else {
      // SQLite returns a connection even if opening fails, which provides the error message.
      let error = unsafe SQLiteError(of: handle)
      unsafe sqlite3_close_v2(handle)
      throw error
    }
    return unsafe handle
  }

  /// Sets what all statements depend on.
  ///
  /// - Returns: The result code of SQLite.
  private static func configure(
    _ handle: OpaquePointer, for access: Access, _ busyTimeout: Int32
  ) -> Int32 {
    unsafe sqlite3_extended_result_codes(handle, 1)
    unsafe wait(milliseconds: busyTimeout, handle)
    unsafe harden(handle, isReading: flags(for: access) & SQLITE_OPEN_READONLY != 0)
    // There is no map: the file system passes the memory of what it has read ahead.
    if access == .immutable {
      _ = unsafe execute("PRAGMA main.mmap_size = 1", handle)
    }
    // With a rollback journal, the commit is the removal of the journal, and only EXTRA syncs its folder; with a
    // write-ahead log, EXTRA equals FULL.
    let synchronous = access == .readWrite ? "PRAGMA synchronous = EXTRA;" : ""
    guard access == .readWrite || access == .create else { return SQLITE_OK }
    // These matter on macOS only, where `fsync` does not wait until the drive has stored the data.
    return unsafe execute(
      "\(synchronous) PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON", handle)
  }

  /// Executes one SQL statement and ignores its rows.
  ///
  /// - Returns: The result code of SQLite.
  private static func execute(_ sql: String, _ handle: OpaquePointer) -> Int32 {
    unsafe sqlite3_exec(handle, sql, nil, nil, nil)
  }

  deinit {
    unsafe sqlite3_close_v2(handle)
  }

  /// Compiles one SQL statement.
  public borrowing func prepare(_ sql: String) throws(SQLiteError) -> Statement {
    var statement: OpaquePointer?
    let code = unsafe sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
    guard code == SQLITE_OK, let statement = unsafe statement else {
      throw unsafe SQLiteError(of: handle)
    }
    return unsafe Statement(owning: statement)
  }

  /// Executes one SQL statement and ignores its rows.
  public borrowing func execute(_ sql: String) throws(SQLiteError) {
    var statement = try prepare(sql)
    while try statement.step() {}
  }

  /// Opens a value of a table for reading in chunks.
  public borrowing func blob(table: String, column: String, row: Int64) throws(SQLiteError) -> Blob
  {
    var blob: OpaquePointer?
    let code = unsafe sqlite3_blob_open(handle, "main", table, column, row, 0, &blob)
    guard code == SQLITE_OK, let blob = unsafe blob else {
      throw unsafe SQLiteError(of: handle)
    }
    return unsafe Blob(owning: blob)
  }

  /// The version of the SQLite library that is linked, for example `3.40.1`.
  public static var libraryVersion: String { unsafe String(cString: sqlite3_libversion()) }

  /// Limits what a hostile database can do: our statements run no views, triggers or functions of its
  /// schema, b-tree cells are checked, and memory is bounded.
  private static func harden(_ handle: OpaquePointer, isReading: Bool) {
    // A trigger makes `DELETE … WHERE entry_ID=1` empty a cache with the result code 0, or fill the
    // disk without end, and a recursive view makes `SELECT` run for ever.
    for (option, value) in [
      (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
      (SQLITE_DBCONFIG_ENABLE_TRIGGER, 0), (SQLITE_DBCONFIG_ENABLE_VIEW, 0),
      (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0),
      // A reader must not checkpoint and remove the log on closing; that is left to the last writer.
      (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, isReading ? 1 : 0),
    ] as [(Int32, Int32)] {
      unsafe csqlite_db_config(handle, option, value)
    }
    // SQLite itself accepts values of a gigabyte, and a damaged or hostile length would make it
    // allocate as much. Reading a body of 300 MB as a value took 307 MB; as a BLOB in chunks it
    // took 14 MB.
    unsafe sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, largestValue)
    unsafe sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, 1 << 20)
    unsafe sqlite3_limit(handle, SQLITE_LIMIT_TRIGGER_DEPTH, 1)
    // `VACUUM` attaches the copy that it creates.
    unsafe sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, isReading ? 0 : 1)
    _ = heapLimit
    // Ignored by libraries without this setting, which then check less.
    _ = unsafe execute("PRAGMA cell_size_check = ON", handle)
    // With a memory map, an app that truncates the file would crash this process (SIGBUS).
    _ = unsafe execute("PRAGMA mmap_size = 0", handle)
  }

  // With a generated column, a small hostile database made SQLite allocate 1.9 GB. The limit is
  // one for all connections of the process, and bites only if SQLite counts its memory.
  private static let heapLimit = sqlite3_hard_heap_limit64(256 << 20)

  /// Lets the databases of this process take more memory than hostile ones may, for one that has no file.
  borrowing func allowMuchMemory() { sqlite3_hard_heap_limit64(8 << 30) }

  private static func flags(for access: Access) -> Int32 {
    // A connection has a single owner and is never used by two threads at once, so SQLite needs no
    // mutexes. SQLITE_OPEN_NOFOLLOW is missing on purpose: it refuses links in the folders of the
    // path too, and `/tmp` and `/var` are links on macOS.
    let common = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE
    return switch access {
    case .shared, .sharedMarking, .immutable, .unlocked: common | SQLITE_OPEN_READONLY
    // Without CREATE, so that SQLite does not create an empty database where there is none.
    case .readWrite: common | SQLITE_OPEN_READWRITE
    case .create, .temporary: common | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    }
  }

  /// Returns the name of the ``FileSystemLayer`` for an access.
  private static func fileSystem(for access: Access) -> String {
    switch access {
    case .unlocked: OwnDatabaseFile.fileSystemWithoutLocks
    case .immutable: ReadAheadFile.fileSystem
    case .shared, .sharedMarking, .readWrite, .create, .temporary: OwnDatabaseFile.fileSystem
    }
  }

  private static func uri(for path: String, _ access: Access) -> String {
    // SQLite takes an empty name, and nothing else, for a temporary database.
    if access == .temporary { return "" }
    var uri = "file:"
    // After `file:`, a path with two leading slashes would be taken as a host name.
    if path.utf8.first != UInt8(ascii: "/") { uri += "./" } else { uri += "//" }
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"),
        UInt8(ascii: "."), UInt8(ascii: "_"):
        uri.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        // `?`, `#` and `%` have a meaning in a URI, so escape everything unusual.
        uri += byte < 16 ? "%0" : "%"
        uri += String(byte, radix: 16)
      }
    }
    switch access {
    // Otherwise, SQLite would create a missing index or repair one, and so write next to a database
    // that is only looked at.
    case .shared: uri += "?readonly_shm=1"
    case .immutable: uri += "?immutable=1"
    case .sharedMarking, .unlocked, .readWrite, .create, .temporary: break
    }
    return uri
  }
}

extension Connection {
  /// The virtual machine instructions between two calls of `shouldStop`, which take some microseconds.
  private static let instructions: Int32 = 10_000

  /// Executes one SQL statement, ignores its rows, and interrupts it when `shouldStop` returns `true`.
  ///
  /// - Throws: ``SQLiteError`` of the kind `interrupted` if it was interrupted; it then has changed nothing.
  public borrowing func execute(
    _ sql: String, unless shouldStop: () -> Bool
  ) throws(SQLiteError) {
    var failure: SQLiteError?
    interrupting(when: shouldStop) {
      do throws(SQLiteError) { try execute(sql) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Calls `body`, and interrupts the statements that it runs when `shouldStop` returns `true`.
  ///
  /// An interrupted statement throws ``SQLiteError`` of the kind `interrupted`.
  public borrowing func interrupting(when shouldStop: () -> Bool, _ body: () -> Void) {
    withoutActuallyEscaping(shouldStop) { shouldStop in
      let question = Question(shouldStop)
      unsafe sqlite3_progress_handler(
        handle, Self.instructions,
        { question in
          guard let question = unsafe question else { return 0 }
          return unsafe Unmanaged<Question>.fromOpaque(question).takeUnretainedValue().ask() ? 1 : 0
        }, Unmanaged.passUnretained(question).toOpaque())
      defer { unsafe sqlite3_progress_handler(handle, 0, nil, nil) }
      withExtendedLifetime(question) { body() }
    }
  }
}

extension Connection {
  /// The longest time between the deadline and the interruption, in milliseconds.
  private static let longestDelay: Int64 = 50

  /// Calls `body`, and interrupts the statements that it runs after a time, or when `shouldStop` returns `true`.
  ///
  /// The time is kept by another thread: SQLite asks `shouldStop` after a number of instructions, and an instruction that
  /// calls a function for a long text can take seconds.
  public borrowing func interrupting(
    after milliseconds: Int64, orWhen shouldStop: () -> Bool, _ body: () -> Void
  ) {
    let deadline = unsafe Deadline(handle)
    BackgroundThread.start("Connection") {
      var rest = milliseconds
      while rest > 0, deadline.isRunning {
        CurrentProcess.sleep(milliseconds: Int(min(rest, Self.longestDelay)))
        rest -= Self.longestDelay
      }
      // Again and again, as SQLite forgets an interruption when no statement runs.
      while deadline.isRunning {
        deadline.interrupt()
        CurrentProcess.sleep(milliseconds: Int(Self.longestDelay))
      }
    }
    interrupting(when: shouldStop, body)
    deadline.end()
  }

  /// Bounds what a single function can do, which cannot be interrupted: its texts, and the patterns of `LIKE` and `GLOB`.
  public borrowing func limitFunctions() {
    // The search for a text of half this length, all of which matches but the last byte, takes about 10 seconds.
    unsafe sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, 1 << 20)
    unsafe sqlite3_limit(handle, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000)
  }
}

/// A connection that another thread interrupts until the end of what it runs.
@safe
private final class Deadline: @unchecked Sendable {
  // The connection is only used while `running` is true, under the lock, and its owner waits for the lock to end it.
  private let handle: OpaquePointer
  private let running = Monitor(true)

  init(_ handle: OpaquePointer) { unsafe self.handle = handle }

  var isRunning: Bool { running.withLock { $0 } }

  func interrupt() { running.withLock { if $0 { unsafe sqlite3_interrupt(handle) } } }

  func end() { running.withLock { $0 = false } }
}

/// A closure as an object, to which a C pointer can refer.
private final class Question {
  let ask: () -> Bool

  init(_ ask: @escaping () -> Bool) { self.ask = ask }
}

extension Connection {
  /// Opens an empty database that only this connection can see, and that is gone when it closes.
  ///
  /// SQLite writes it to an unnamed file in the temporary folder once it is too large for the page cache, so memory
  /// stays bounded.
  ///
  /// - Parameter usesJSON: Whether SQL can use the functions for JSON even if it may only read.
  public static func temporary(usesJSON: Bool = true) throws(SQLiteError) -> Connection {
    let connection = try Connection(path: "", access: .temporary)
    try connection.fillQuickly()
    try connection.execute("PRAGMA cache_size = -\(temporaryCacheBytes >> 10)")
    try connection.execute("PRAGMA temp_store = FILE")
    // Sorting uses a second processor; a query that does not sort starts no thread.
    try connection.execute("PRAGMA threads = 1")
    guard usesJSON else { return connection }
    // The first use of a table-valued function declares its table, which a connection that only reads refuses. A
    // library without JSON has no such functions.
    for function in ["json_each", "json_tree"] {
      try? connection.execute("SELECT 1 FROM \(function)('[]')")
    }
    return connection
  }

  /// The memory for pages. It is also how much is sorted at a time, which is fastest if it fits into the cache of a processor.
  static let temporaryCacheBytes: Int64 = 2 << 20

  /// Writes without a journal and without waiting for the disk, for a new database that is thrown away after a failure.
  public borrowing func fillQuickly() throws(SQLiteError) {
    try execute("PRAGMA journal_mode = OFF")
    try execute("PRAGMA synchronous = OFF")
  }
}

/// The tries of something that another process prevents, over a limited time.
public struct LockWait {
  private let end: Int64
  private var tries = 0

  /// Begins the first try.
  ///
  /// - Parameter milliseconds: How long to try.
  public init(milliseconds: Int32) {
    end = LocalTime.steadyMilliseconds() + Int64(milliseconds)
  }

  /// Pauses before the next try. Nothing may be locked meanwhile.
  ///
  /// - Returns: `false` if the time is over, or if a held signal waits.
  public mutating func pause() -> Bool {
    let rest = end - LocalTime.steadyMilliseconds()
    guard rest > 0, !HeldSignals.areWaiting else { return false }
    CurrentProcess.sleep(milliseconds: min(Int(rest), Connection.pause(tries)))
    tries += 1
    return true
  }
}

extension Connection {
  /// The longest pause between two tries, in milliseconds: a held signal ends the wait after it at the latest.
  private static let longestPause = 100

  /// Waits for locks of other processes, up to this many milliseconds in total.
  ///
  /// This is like `sqlite3_busy_timeout`, except that a held signal ends the wait before the lock is free.
  public borrowing func wait(milliseconds: Int32) {
    unsafe Self.wait(milliseconds: milliseconds, handle)
  }

  /// Lets a connection that is being opened wait, as above.
  static func wait(milliseconds: Int32, _ handle: OpaquePointer) {
    // SQLite passes the number of tries and one pointer, which here is the maximal number of pauses.
    let pauses = unsafe UnsafeMutableRawPointer(bitPattern: pauseCount(of: milliseconds))
    unsafe sqlite3_busy_handler(
      handle,
      { limit, count in
        let pauses = Int(bitPattern: limit)
        // SQLite does not queue for a lock, it tries again. So this is called before each further
        // try.
        guard Int(count) < pauses, !HeldSignals.areWaiting else { return 0 }
        CurrentProcess.sleep(milliseconds: Connection.pause(Int(count)))
        return 1
      }, pauses)
  }

  /// Returns the pause after this many tries, in milliseconds: short at first, as most locks are brief.
  fileprivate static func pause(_ count: Int) -> Int { min(count + 1, 20) * 5 }

  /// Returns how many pauses fit into this time.
  private static func pauseCount(of milliseconds: Int32) -> Int {
    var (count, rest) = (0, Int(milliseconds))
    // From the 20th pause on, all have the longest duration.
    while rest > 0, count < 20 {
      rest -= pause(count)
      count += 1
    }
    return count + max(0, rest) / longestPause
  }
}
