internal import CSQLite
private import Files

/// An error that SQLite reported.
public struct SQLiteError: Error, Hashable, Sendable {
  /// The kinds of failure that a program can act on: SQLite's primary result codes.
  public enum Kind: Hashable, Sendable {
    /// `SQLITE_BUSY` or `SQLITE_LOCKED`.
    case busy
    /// `SQLITE_CANTOPEN`.
    case cannotOpen
    /// `SQLITE_NOTADB`.
    case notADatabase
    /// `SQLITE_CORRUPT`.
    case corrupt
    /// `SQLITE_READONLY`: this user may not write. Reading can require that too, for example to recover a log.
    case readOnly
    /// `SQLITE_PERM` or `SQLITE_AUTH`.
    case accessDenied
    /// `SQLITE_IOERR`.
    case inputOutput
    /// `SQLITE_FULL`, or `SQLITE_IOERR` because the disk is full.
    case noRoom
    /// `SQLITE_NOMEM` or `SQLITE_TOOBIG`.
    case tooLarge
    /// An unfinished transaction involves another database, of which ``Connection`` touches no file.
    case foreignFile
    /// `SQLITE_INTERRUPT`.
    case interrupted
    /// Anything else.
    case other
  }

  /// SQLite's extended result code.
  public let code: Int32

  /// SQLite's error message.
  public let message: String

  /// The `errno` of the failed system call, or 0 if none failed.
  public let systemNumber: Int32

  init(code: Int32, message: String) {
    self.code = code
    self.message = message
    systemNumber = 0
  }

  /// Returns an error for damage that an integrity check found.
  public static func damage(_ message: String) -> SQLiteError {
    SQLiteError(code: 11, message: message)
  }

  /// Creates an error from the last failure of a connection.
  init(of connection: OpaquePointer?) {
    // These functions accept a missing connection, which means that there was no memory for one.
    unsafe code = sqlite3_extended_errcode(connection)
    unsafe message = String(cString: sqlite3_errmsg(connection))
    unsafe systemNumber = sqlite3_system_errno(connection)
  }

  /// `SQLITE_READONLY_DBMOVED`, a macro that Swift does not import.
  private static let moved: Int32 = SQLITE_READONLY | 4 << 8

  /// The kind of failure.
  public var kind: Kind {
    switch code & 0xFF {
    case SQLITE_FULL: .noRoom
    // On a full disk, growing the index of a log fails as an I/O error.
    case SQLITE_IOERR where FileError(systemNumber, at: "").kind == .noRoom: .noRoom
    // The file was replaced or removed, which has nothing to do with permissions.
    case SQLITE_READONLY where code == Self.moved: .inputOutput
    case SQLITE_BUSY, SQLITE_LOCKED: .busy
    case SQLITE_CANTOPEN where code == FileSystemLayer.foreignFile: .foreignFile
    case SQLITE_CANTOPEN: .cannotOpen
    case SQLITE_NOTADB: .notADatabase
    case SQLITE_CORRUPT: .corrupt
    case SQLITE_READONLY: .readOnly
    case SQLITE_PERM, SQLITE_AUTH: .accessDenied
    case SQLITE_IOERR: .inputOutput
    case SQLITE_NOMEM, SQLITE_TOOBIG: .tooLarge
    case SQLITE_INTERRUPT: .interrupted
    default: .other
    }
  }
}

extension SQLiteError: CustomStringConvertible {
  public var description: String { "\(message) (SQLite result code \(code))" }
}
