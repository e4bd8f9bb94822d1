import Bytes
import Files
import SQLite

/// The paths of the files of an Apple store, and their state at a point in time.
struct AppleStoreFiles {
  /// The path that the user gave.
  let path: String
  /// The folder that the database is in.
  let folder: String
  /// The database file.
  let database: String

  var wal: String { database + "-wal" }
  var shm: String { database + "-shm" }
  var journal: String { database + "-journal" }
  var bodies: String { folder + "/fsCachedData" }

  /// The name of the database in its folder.
  var databaseName: String {
    let slash = database.utf8.lastIndex(of: UInt8(ascii: "/"))
    return slash.map { String(database[database.utf8.index(after: $0)...]) } ?? database
  }

  /// Finds the database at `path`, which is a database or the folder of a `Cache.db`.
  init(at path: String) throws(StoreError) {
    self.path = path
    if try StoreOpening.isFolder(path) {
      folder = path
      database = path + (path.utf8.last == UInt8(ascii: "/") ? "Cache.db" : "/Cache.db")
    } else {
      let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
      folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
      database = path
    }
  }

  /// The state of the files that a reader depends on.
  struct State: Equatable {
    let database: FileStatus
    var wal: FileStatus?
    var journal: FileStatus?

    /// Whether the files are the same and have not been written.
    ///
    /// SQLite creates an empty log when a process opens the database, and deletes it again when that process closes it. So
    /// an empty log equals a missing one.
    ///
    /// The allocated size is ignored: it changes when the pages are written to disk, up to half a minute
    /// after the write.
    static func == (one: Self, other: Self) -> Bool {
      Optional(one.database).isUnchanged(since: other.database)
        && (one.hasLog || other.hasLog ? one.wal.isUnchanged(since: other.wal) : true)
        && one.journal.isUnchanged(since: other.journal)
    }

    /// Whether the write-ahead log has content.
    var hasLog: Bool { wal.map { $0.size > 0 } ?? false }
  }

  /// Returns the state of the files, each of which must be a regular file if it exists.
  func state() throws(StoreError) -> State {
    guard let database = try regularFile(database) else {
      throw StoreError(.notACache, at: path, because: "the folder has no Cache.db")
    }
    // The index of the log changes with every reader, so it is no part of the state; but SQLite
    // would map it, and so it must be a regular file.
    _ = try regularFile(shm)
    return State(database: database, wal: try regularFile(wal), journal: try regularFile(journal))
  }

  /// Returns what is odd about the files, as clauses; a cache with any of that is not changed.
  ///
  /// A link can be one to a file of somebody else, and SQLite would write to that. It opens and closes the files, so call it
  /// only while this process has no connection to the database.
  ///
  /// - Parameter file: The open database.
  func oddities(of file: borrowing OpenFile) throws(StoreError) -> [String] {
    do throws(FileError) {
      let owner = try Directory(folder, followingLink: true).status().owner
      var oddities: [String] = []
      // SQLite derives the name of the log from that of the database, so two names of one file have
      // two logs. Its documentation lists this among the ways to corrupt a database ("How To
      // Corrupt An SQLite Database File", multiple links to the same file).
      let status = try file.status()
      if status.linkCount > 1 {
        oddities.append("the database file has hard links, so SQLite cannot protect it")
      }
      if status.owner != owner {
        oddities.append("the database file and its folder belong to different users")
      }
      for (name, path) in [("log", wal), ("index of the log", shm), ("journal", journal)] {
        guard let status = try Self.status(of: path) else { continue }
        if status.kind != .regular { oddities.append("its \(name) is \(status.kind.rawValue)") }
        if status.linkCount > 1 { oddities.append("its \(name) has hard links") }
        if status.owner != owner, status.owner != 0 {
          oddities.append("its \(name) and its folder belong to different users")
        }
      }
      return oddities
    } catch {
      throw StoreError(error, path: error.path)
    }
  }

  /// Returns the status of a file that was opened; `nil` if it does not exist.
  private static func status(of path: String) throws(FileError) -> FileStatus? {
    do throws(FileError) { return try OpenFile(reading: path).status() } catch {
      switch error.kind {
      case .notFound: return nil
      // It can be looked at all the same; writing will fail.
      case .accessDenied, .symbolicLink: return try FileStatus.of(path)
      default: throw error
      }
    }
  }

  /// Checks, before any change, that this user may write to every file that a change writes. Otherwise rows
  /// could be removed but not their body files, which would leave the cache worse than before.
  func checkWriting() throws(StoreError) {
    // The folder too: SQLite creates its log and journal there, and deletes them.
    for file in [folder, database, wal, shm, journal, bodies] {
      do throws(FileError) { try FileAccess.checkWriting(to: file) } catch {
        if error.kind != .notFound { throw StoreError(error, path: file) }
      }
    }
  }

  private func regularFile(_ file: String) throws(StoreError) -> FileStatus? {
    let status: FileStatus
    do throws(FileError) {
      status = try FileStatus.of(file)
    } catch {
      if error.kind == .notFound { return nil }
      throw StoreError(error, path: file)
    }
    // SQLite would wait for ever on a pipe, and read `/dev/zero` as an empty database.
    guard status.kind == .regular else {
      throw StoreError(
        .notACache, at: path,
        because: "'\(file)' is \(status.kind.rawValue), not a regular file")
    }
    return status
  }
}

extension FileStatus? {
  fileprivate func isUnchanged(since other: FileStatus?) -> Bool {
    self?.kind == other?.kind && self?.identity == other?.identity && self?.size == other?.size
      // Linux takes the time of the last clock tick, which can be some milliseconds old. A second
      // write within one tick that leaves the length as it is would go unnoticed.
      && self?.modified == other?.modified && self?.linkCount == other?.linkCount
  }
}

extension StoreError {
  /// Creates an error from one of the operating system.
  init(_ error: FileError, path: String) {
    switch error.kind {
    case .notFound: self.init(.notFound, at: path)
    case .accessDenied: self.init(.accessDenied, at: path, because: error.reason)
    case .symbolicLink:
      self.init(
        .notACache, at: path,
        because: "it is a symbolic link, and urlcache-admin does not follow links")
    case .noRoom: self.init(.noRoom, at: path)
    case .exists, .busy, .brokenPipe, .other:
      self.init(.inputOutput, at: path, because: error.reason)
    }
  }

  /// Creates an error from one of SQLite.
  init(_ error: SQLiteError, path: String?) {
    switch error.kind {
    case .busy: self.init(.inUse, at: path, because: "another process has locked it")
    case .notADatabase: self.init(.notACache, at: path, because: "it is not an SQLite database")
    case .accessDenied: self.init(.accessDenied, at: path, because: error.message)
    case .readOnly:
      // SQLITE_READONLY is about the database file, and SQLITE_READONLY_DIRECTORY about its folder.
      self.init(
        .accessDenied, at: path, because: "you have no permission to write to it or to its folder")
    case .noRoom: self.init(.noRoom, at: path)
    case .foreignFile:
      self.init(
        .unfinished, at: path, because: "an unfinished transaction involves another database")
    case .inputOutput, .cannotOpen, .interrupted:
      self.init(.inputOutput, at: path, because: error.description)
    case .corrupt, .tooLarge, .other:
      self.init(.damaged, at: path, because: error.description)
    }
  }
}
