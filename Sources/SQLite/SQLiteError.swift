internal import CSQLite

/// A failure that SQLite reported.
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
    /// `SQLITE_READONLY`: reading would need writing, for instance to recover a log.
    case readOnly
    /// `SQLITE_PERM` or `SQLITE_AUTH`.
    case accessDenied
    /// `SQLITE_IOERR` or `SQLITE_FULL`.
    case inputOutput
    /// `SQLITE_NOMEM` or `SQLITE_TOOBIG`.
    case tooLarge
    /// `SQLITE_INTERRUPT`.
    case interrupted
    /// Anything else.
    case other
  }

  /// SQLite's extended result code.
  public let code: Int32

  /// SQLite's own words for the failure.
  public let message: String

  init(code: Int32, message: String) {
    self.code = code
    self.message = message
  }

  /// Damage that SQLite found when it was asked to look for it.
  public static func damage(_ message: String) -> SQLiteError {
    SQLiteError(code: 11, message: message)
  }

  /// The last failure of a connection.
  init(of connection: OpaquePointer?) {
    unsafe code = sqlite3_extended_errcode(connection)
    unsafe message = String(cString: sqlite3_errmsg(connection))
  }

  /// What kind of failure it is.
  public var kind: Kind {
    switch code & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED: .busy
    case SQLITE_CANTOPEN: .cannotOpen
    case SQLITE_NOTADB: .notADatabase
    case SQLITE_CORRUPT: .corrupt
    case SQLITE_READONLY: .readOnly
    case SQLITE_PERM, SQLITE_AUTH: .accessDenied
    case SQLITE_IOERR, SQLITE_FULL: .inputOutput
    case SQLITE_NOMEM, SQLITE_TOOBIG: .tooLarge
    case SQLITE_INTERRUPT: .interrupted
    default: .other
    }
  }
}

extension SQLiteError: CustomStringConvertible {
  public var description: String { "\(message) (SQLite result code \(code))" }
}
