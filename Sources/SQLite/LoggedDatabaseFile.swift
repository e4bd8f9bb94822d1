internal import CSQLite

/// A database with a log whose writes are gathered.
///
/// While SQLite holds the lock for writing, nobody else writes to the log. So what a transaction has gathered is written
/// before that lock is released, also after a rollback: later, it might replace what others have written. From the first
/// write of a transaction to its end, SQLite locks and unlocks nothing else.
@safe
struct LoggedDatabaseFile: ~Copyable {
  /// The functions for the file: those of the usual file system, but for some.
  private var methods: sqlite3_io_methods
  private let usual: UnsafePointer<sqlite3_io_methods>
  private var log: UnsafeMutablePointer<sqlite3_file>?

  private static func of(
    _ file: UnsafeMutablePointer<sqlite3_file>
  ) -> UnsafeMutablePointer<Self> {
    unsafe (UnsafeMutableRawPointer(file) + FileSystemLayer.offset)
      .assumingMemoryBound(to: Self.self)
  }

  /// Prepares an open database for a log.
  static func add(to file: UnsafeMutablePointer<sqlite3_file>) {
    guard let usual = unsafe file.pointee.pMethods, unsafe usual.pointee.iVersion >= 2 else {
      return
    }
    var methods = unsafe usual.pointee
    unsafe methods.xShmLock = { file, first, count, flags in
      guard let file = unsafe file else { return SQLITE_IOERR }
      let database = unsafe LoggedDatabaseFile.of(file)
      if let log = unsafe database.pointee.log {
        // After a commit there is nothing to write. After a rollback, it does not matter whether it can be written. With
        // `PRAGMA locking_mode = EXCLUSIVE`, SQLite locks nothing here until it leaves that mode.
        _ = unsafe GatheredLogFile.writeGathered(of: log)
      }
      return unsafe database.pointee.usual.pointee.xShmLock(file, first, count, flags)
    }
    unsafe methods.xClose = { file in
      guard let file = unsafe file else { return SQLITE_OK }
      let database = unsafe LoggedDatabaseFile.of(file).move()
      unsafe file.pointee.pMethods = database.usual
      return unsafe database.usual.pointee.xClose(file)
    }
    unsafe of(file).initialize(to: Self(methods: methods, usual: usual, log: nil))
    unsafe file.pointee.pMethods = UnsafeRawPointer(of(file)).assumingMemoryBound(
      to: sqlite3_io_methods.self)
  }

  /// Notes the log of a database.
  ///
  /// - Returns: Whether the database is prepared for it.
  static func connect(
    _ file: UnsafeMutablePointer<sqlite3_file>, to log: UnsafeMutablePointer<sqlite3_file>
  ) -> Bool {
    guard
      unsafe UnsafeRawPointer(file.pointee.pMethods) == UnsafeRawPointer(of(file)),
      unsafe of(file).pointee.log == nil
    else { return false }
    unsafe of(file).pointee.log = log
    return true
  }

  /// Notes that the log of a database is closed.
  static func disconnect(_ file: UnsafeMutablePointer<sqlite3_file>) {
    unsafe of(file).pointee.log = nil
  }
}
