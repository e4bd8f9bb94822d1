internal import CSQLite

/// A write-ahead log whose writes are gathered.
///
/// Others see a log only as far as its index says. SQLite changes the index after it has synchronized the log, at which
/// everything is written. So this is only for connections that synchronize each commit: with `PRAGMA synchronous = FULL` or
/// `EXTRA`. If the process ends before that, the log is without a commit, as it may be in any case.
@safe
struct GatheredLogFile: ~Copyable, LayeredFile {
  /// The name of the file system with such logs.
  static let fileSystem = unsafe FileSystemLayer.register(
    "urlcache-admin-gathered-log",
    adding: max(Self.byteCount, LoggedDatabaseFile.byteCount)
  ) { system, name, file, flags, outFlags in
    let code = unsafe FileSystemLayer.open(system, name, file, flags, outFlags)
    guard code == SQLITE_OK, let file = unsafe file else { return code }
    if flags & SQLITE_OPEN_MAIN_DB != 0 { unsafe LoggedDatabaseFile.prepare(file, name) }
    if flags & SQLITE_OPEN_WAL != 0, let name = unsafe name {
      unsafe gather(in: file, of: sqlite3_database_file_object(name))
    }
    return code
  }

  let usual: UnsafePointer<sqlite3_io_methods>
  private let database: UnsafeMutablePointer<sqlite3_file>
  private var writes: GatheredWrites

  /// Makes an open log gather its writes.
  private static func gather(
    in file: UnsafeMutablePointer<sqlite3_file>, of database: UnsafeMutablePointer<sqlite3_file>
  ) {
    // Where a loss of power may destroy bytes next to those that are written, SQLite shows frames of a commit that it has
    // not synchronized.
    guard let usual = unsafe file.pointee.pMethods,
      let ofDatabase = unsafe database.pointee.pMethods,
      unsafe ofDatabase.pointee.xDeviceCharacteristics(database)
        & SQLITE_IOCAP_POWERSAFE_OVERWRITE != 0,
      unsafe LoggedDatabaseFile.connect(database, to: file)
    else { return }
    var methods = unsafe usual.pointee
    // A log has neither shared memory nor a map.
    methods.iVersion = 1
    unsafe methods.xWrite = { file, buffer, count, offset in
      guard let file = unsafe file, let buffer = unsafe buffer else { return SQLITE_IOERR }
      let bytes = unsafe UnsafeRawBufferPointer(start: buffer, count: Int(count))
      return unsafe GatheredLogFile.of(file).pointee.writes.write(bytes, at: offset)
    }
    unsafe methods.xRead = { file, buffer, count, offset in
      guard let file = unsafe file, let buffer = unsafe buffer else { return SQLITE_IOERR }
      let log = unsafe GatheredLogFile.of(file)
      let usual = unsafe log.pointee.usual
      return unsafe log.pointee.writes.read(
        .init(start: buffer, count: Int(count)), at: offset
      ) { buffer, offset in
        unsafe usual.pointee.xRead(file, buffer.baseAddress, Int32(buffer.count), offset)
      }
    }
    unsafe methods.xTruncate = { file, size in
      guard let file = unsafe file else { return SQLITE_IOERR }
      let code = unsafe GatheredLogFile.of(file).pointee.writes.makeAll()
      guard code == SQLITE_OK else { return code }
      return unsafe GatheredLogFile.of(file).pointee.usual.pointee.xTruncate(file, size)
    }
    unsafe methods.xSync = { file, flags in
      guard let file = unsafe file else { return SQLITE_IOERR }
      let code = unsafe GatheredLogFile.writeGathered(of: file)
      guard code == SQLITE_OK else { return code }
      return unsafe GatheredLogFile.of(file).pointee.usual.pointee.xSync(file, flags)
    }
    unsafe methods.xFileSize = { file, size in
      guard let file = unsafe file else { return SQLITE_IOERR }
      let code = unsafe GatheredLogFile.of(file).pointee.writes.makeAll()
      guard code == SQLITE_OK else { return code }
      return unsafe GatheredLogFile.of(file).pointee.usual.pointee.xFileSize(file, size)
    }
    unsafe methods.xClose = { file in
      guard let file = unsafe file else { return SQLITE_OK }
      // No transaction is open, so nothing is gathered.
      unsafe LoggedDatabaseFile.disconnect(GatheredLogFile.of(file).pointee.database)
      return unsafe GatheredLogFile.close(file)
    }
    nonisolated(unsafe) let (log, functions) = unsafe (file, usual)
    let writes = unsafe GatheredWrites { bytes, offset in
      unsafe functions.pointee.xWrite(log, bytes.baseAddress, Int32(bytes.count), offset)
    }
    unsafe add(
      Self(usual: usual, database: database, writes: writes), with: methods, to: file)
  }

  /// Writes what is gathered for a log.
  ///
  /// - Returns: The result code of SQLite.
  static func writeGathered(of file: UnsafeMutablePointer<sqlite3_file>) -> Int32 {
    unsafe of(file).pointee.writes.flush()
  }
}
