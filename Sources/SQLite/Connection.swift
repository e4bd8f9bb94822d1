internal import CSQLite

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
    // With a generated column, a small hostile database made SQLite allocate 1.9 GB. The limit is
    // one for all connections of the process, and bites only if SQLite counts its memory.
    sqlite3_hard_heap_limit64(256 << 20)
    // Ignored by libraries without this setting, which then check less.
    _ = unsafe execute("PRAGMA cell_size_check = ON", handle)
    // With a memory map, an app that truncates the file would crash this process (SIGBUS).
    _ = unsafe execute("PRAGMA mmap_size = 0", handle)
  }

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
