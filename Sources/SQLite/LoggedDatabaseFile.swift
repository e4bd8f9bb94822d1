internal import CSQLite

/// A database with a log whose writes are gathered.
///
/// While SQLite holds the lock for writing, nobody else writes to the log. So what a transaction has gathered is written
/// before that lock is released, also after a rollback: later, it might replace what others have written. From the first
/// write of a transaction to its end, SQLite locks and unlocks nothing else.
@safe
struct LoggedDatabaseFile: ~Copyable, LayeredFile {
  let usual: UnsafePointer<sqlite3_io_methods>
  private let names: OwnFileNames
  private var log: UnsafeMutablePointer<sqlite3_file>?

  /// Prepares an open database for a log.
  static func prepare(
    _ file: UnsafeMutablePointer<sqlite3_file>, _ name: UnsafePointer<CChar>?
  ) {
    guard let usual = unsafe file.pointee.pMethods else { return }
    guard unsafe usual.pointee.iVersion >= 2 else {
      return unsafe OwnDatabaseFile.prepare(file, name)
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
      return unsafe LoggedDatabaseFile.close(file)
    }
    unsafe add(Self(usual: usual, names: OwnFileNames(of: name), log: nil), with: methods, to: file)
  }

  /// Notes the log of a database.
  ///
  /// - Returns: Whether the database is prepared for it.
  static func connect(
    _ file: UnsafeMutablePointer<sqlite3_file>, to log: UnsafeMutablePointer<sqlite3_file>
  ) -> Bool {
    // Without shared memory, it was not prepared.
    guard unsafe isAdded(to: file), unsafe file.pointee.pMethods.pointee.iVersion >= 2,
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
