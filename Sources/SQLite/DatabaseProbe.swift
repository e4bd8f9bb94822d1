internal import CSQLite
public import Files

/// A check of whether another process has a database open, according to its locks.
///
/// The bytes are those of SQLite's own file format: the lock-byte page (§1.2 of "Database File
/// Format") and the locks of a log's index (§2.3.1 of "WAL-mode File Format").
public enum DatabaseProbe {
  /// The pending, reserved and shared lock bytes of a database file.
  public static let databaseLocks: Range<Int64> = 0x4000_0000..<0x4000_0200

  /// The pending lock byte: a process that waits until all others have released their shared locks holds it, so that no
  /// more are taken.
  static let pendingLock: Range<Int64> = 0x4000_0000..<0x4000_0001

  /// The shared lock bytes: every connection to a database in WAL mode holds a shared lock on them, and the
  /// last connection needs an exclusive lock to remove the log.
  public static let sharedLock: Range<Int64> = 0x4000_0002..<0x4000_0200

  /// The lock bytes of the index of a log. Each connection holds the last one as long as it is open.
  public static let indexLocks: Range<Int64> = 120..<129

  /// Returns a lock that another process holds on the database or on the index of its log.
  ///
  /// - Parameters:
  ///   - database: The database file.
  ///   - indexPath: The path of the index of its log; a missing file has no locks.
  public static func lockHeldElsewhere(
    on database: borrowing OpenFile, indexPath: String
  ) throws(FileError) -> RecordLock? {
    if let lock = try database.lockHeldElsewhere(on: databaseLocks) { return lock }
    do throws(FileError) {
      // Only while this process has no connection to the database: closing any descriptor of a file
      // releases all POSIX locks that the process has on it ("How To Corrupt An SQLite Database
      // File", §2.2).
      return try OpenFile(reading: indexPath).lockHeldElsewhere(on: indexLocks)
    } catch {
      // Without permission to read the index, its locks remain unknown.
      guard error.kind == .notFound || error.kind == .accessDenied else { throw error }
      return nil
    }
  }

  /// Takes the lock that each connection to a database in WAL mode holds, without waiting.
  ///
  /// With a rollback journal, every commit waits until it is released.
  ///
  /// - Returns: `false` if another process has the database for itself, or waits for it.
  public static func lockShared(_ database: borrowing OpenFile) throws(FileError) -> Bool {
    // In the order of SQLite. The other one meets a process that waits for this lock, and for which SQLite here then waits.
    guard try database.lockShared(pendingLock) else { return false }
    let isLocked = try database.lockShared(sharedLock)
    try database.unlock(pendingLock)
    return isLocked
  }
}

/// A BLOB or text that is open for reading in chunks.
@safe
public struct Blob: ~Copyable {
  private let handle: OpaquePointer

  /// The length, in bytes.
  public let count: Int

  /// Takes over a handle that no one else will close.
  init(owning handle: OpaquePointer) {
    unsafe self.handle = handle
    unsafe count = Int(sqlite3_blob_bytes(handle))
  }

  deinit {
    unsafe sqlite3_blob_close(handle)
  }

  /// Fills `buffer` with `count` bytes from `offset`, which must lie within the value.
  public borrowing func read(into buffer: inout [UInt8], count: Int, at offset: Int)
    throws(SQLiteError)
  {
    precondition(count <= buffer.count)
    let code = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe sqlite3_blob_read(handle, bytes.baseAddress, Int32(count), Int32(offset))
    }
    guard code == SQLITE_OK else {
      // The handle of a value does not lead to its connection, which has the detailed message.
      throw SQLiteError(code: code, message: "cannot read a value: \(Self.words(for: code))")
    }
  }

  private static func words(for code: Int32) -> String {
    unsafe String(cString: sqlite3_errstr(code))
  }
}
