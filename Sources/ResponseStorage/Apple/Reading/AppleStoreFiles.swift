import Bytes
import Files
import SQLite

/// Where the files of an Apple store are, and how they stood when they were looked at.
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

  /// Finds the database at `path`, which is one or the folder of a `Cache.db`.
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

  /// How the files stand that a reading depends on.
  struct State: Equatable {
    let database: FileStatus
    let wal: FileStatus?
    let journal: FileStatus?

    /// Whether the files are the same, and nobody has written to them.
    ///
    /// What the file system charges for them does not count: it changes when their pages go to the disk,
    /// up to half a minute after they were written.
    static func == (one: Self, other: Self) -> Bool {
      Optional(one.database).isUnchanged(since: other.database)
        && one.wal.isUnchanged(since: other.wal)
        && one.journal.isUnchanged(since: other.journal)
    }

    /// Whether the write-ahead log holds anything.
    var hasLog: Bool { wal.map { $0.size > 0 } ?? false }
  }

  /// Looks at the files, each of which must be a regular file where it exists.
  func state() throws(StoreError) -> State {
    guard let database = try regularFile(database) else {
      throw StoreError(.notACache, at: path, because: "the folder has no Cache.db")
    }
    _ = try regularFile(shm)
    return State(database: database, wal: try regularFile(wal), journal: try regularFile(journal))
  }

  /// Makes sure that this user may write wherever a change does, before any is made: with rows gone and body
  /// files that cannot follow, a cache would be left worse than it was.
  func checkWriting() throws(StoreError) {
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
      && self?.modified == other?.modified && self?.linkCount == other?.linkCount
  }
}

extension StoreError {
  /// Says in a store's terms what the operating system said.
  init(_ error: FileError, path: String) {
    switch error.kind {
    case .notFound: self.init(.notFound, at: path)
    case .accessDenied: self.init(.accessDenied, at: path, because: error.reason)
    case .symbolicLink:
      self.init(.notACache, at: path, because: "it is a symbolic link, which is not followed")
    case .noRoom: self.init(.noRoom, at: path)
    case .exists, .busy, .brokenPipe, .other:
      self.init(.inputOutput, at: path, because: error.reason)
    }
  }

  /// Says in a store's terms what SQLite said.
  init(_ error: SQLiteError, path: String) {
    switch error.kind {
    case .busy: self.init(.inUse, at: path, because: "another process holds its lock")
    case .notADatabase: self.init(.notACache, at: path, because: "it is not an SQLite database")
    case .accessDenied: self.init(.accessDenied, at: path, because: error.message)
    case .readOnly:
      self.init(.accessDenied, at: path, because: "this user may not write to it, or to its folder")
    case .noRoom: self.init(.noRoom, at: path)
    case .inputOutput, .cannotOpen, .interrupted:
      self.init(.inputOutput, at: path, because: error.description)
    case .corrupt, .tooLarge, .other:
      self.init(.damaged, at: path, because: error.description)
    }
  }
}
