public import Files

/// Whether another process has a database open, as far as its locks tell.
///
/// The bytes are those of SQLite's own file format: the lock-byte page (§1.2 of "Database File
/// Format") and the locks of a log's index (§2.3.1 of "WAL-mode File Format").
public enum DatabaseProbe {
  /// The pending, reserved and shared lock bytes of a database file.
  public static let databaseLocks: Range<Int64> = 0x4000_0000..<0x4000_0200

  /// The byte among them that every connection to a database in WAL mode holds a shared lock on, and
  /// that the last connection must hold alone in order to remove the log.
  public static let sharedLock: Range<Int64> = 0x4000_0002..<0x4000_0200

  /// The lock bytes of the index of a log; the last is held by each connection for as long as it is
  /// open.
  public static let indexLocks: Range<Int64> = 120..<129

  /// Returns a lock that another process holds on the database or on the index of its log.
  ///
  /// - Parameters:
  ///   - database: The database file.
  ///   - indexPath: The path of the index of its log; a file that is not there holds no lock.
  public static func lockHeldElsewhere(
    on database: borrowing OpenFile, indexPath: String
  ) throws(FileError) -> RecordLock? {
    if let lock = try database.lockHeldElsewhere(on: databaseLocks) { return lock }
    do throws(FileError) {
      return try OpenFile(reading: indexPath).lockHeldElsewhere(on: indexLocks)
    } catch {
      // An index that this user may not even read tells nothing.
      guard error.kind == .notFound || error.kind == .accessDenied else { throw error }
      return nil
    }
  }
}
