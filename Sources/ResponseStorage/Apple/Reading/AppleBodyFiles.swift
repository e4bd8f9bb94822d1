import Bytes
import Files
import SQLite

/// The body files in `fsCachedData`.
///
/// File names come from a database that anyone may have written, so a name is used only if it follows
/// CFNetwork's naming rule, and only regular files are opened.
struct AppleBodyFiles: ~Copyable {
  /// The names of body files that no entry has for itself.
  struct Sharing: Sendable {
    /// The names that several entries have.
    var byEntries: Set<UUIDBytes> = []
    /// The other databases in the folder, which may name them, too; `nil` for none.
    var byDatabases: NeighbouringDatabases?
  }

  let directory: Directory?
  private let path: String
  /// Why the folder is missing or unreadable. If it is unreadable, a body in it is not known to be missing.
  // The difference matters to a repair: it removes responses whose bodies are missing, and would
  // have removed those whose folder only another user may read.
  private let failure: FileError
  /// The names of shared body files, for the shares of entries.
  private let sharing: Sharing

  /// Opens the folder at `path`; a missing folder is not an error.
  init(at path: String, sharing: Sharing = Sharing()) {
    (self.path, self.sharing) = (path, sharing)
    do throws(FileError) {
      directory = try Directory(path)
      failure = FileError(Self.noSuchFile, at: path)
    } catch {
      directory = nil
      failure = error
    }
  }

  /// Checks that files may be removed from `path`, which must be a folder or not exist.
  static func guardFolder(at path: String) throws(StoreError) {
    let kind: FileStatus.Kind
    do throws(FileError) { kind = try FileStatus.of(path).kind } catch {
      // A missing folder is normal: schemas before 25 have none, and newer ones only once a body is
      // large enough.
      if error.kind == .notFound { return }
      throw StoreError(error, path: path)
    }
    guard kind == .directory else {
      throw StoreError(.notACache, at: path, because: "it is \(kind.rawValue), not a folder")
    }
  }

  /// Removes the file with this name if it is a regular file, and returns its size; `nil` if there is none.
  borrowing func remove(_ name: ByteString) throws(FileError) -> FileStatus? {
    guard let name = Self.validated(name.bytes) else { return nil }
    switch directory {
    case .none:
      guard failure.kind == .notFound else { throw failure }
      return nil
    case .some(let directory):
      do throws(FileError) {
        let status = try directory.status(of: name)
        // A link or a folder with the name of a body file was not made by CFNetwork. It is never
        // followed and never removed, so that a removal cannot reach anything outside of the cache.
        guard status.kind == .regular else { return nil }
        try directory.remove(name)
        return status
      } catch {
        guard error.kind == .notFound else { throw error }
        return nil
      }
    }
  }

  /// Returns the current version of a file, or `nil` if there is none, it is not a regular file, or the name is not
  /// that of a body file.
  borrowing func version(of name: ByteString) -> FileVersion? {
    guard let name = Self.validated(name.bytes), let status = try? status(of: name) else {
      return nil
    }
    return FileVersion(status)
  }

  /// Waits until changes of the folder's entries are on disk, where the system can.
  borrowing func synchronize() {
    switch directory {
    case .none: break
    case .some(let directory): try? directory.synchronize()
    }
  }

  /// Adds what the row of `response` does not show about its body.
  ///
  /// - Parameters:
  ///   - table: The table with the bodies.
  ///   - connection: A connection to its database.
  borrowing func examine(
    _ response: inout StoredResponse, in table: String, of connection: borrowing Connection
  ) throws(SQLiteError) {
    guard response.decoded.contains(.body) else { return }
    switch response.bodyLocation {
    // SQL cannot return the length of a text in bytes without reading all of it, but the handle of
    // a BLOB can.
    case .inline where response.bodySize == nil:
      guard case .row(let row) = response.id else { return }
      let text = try connection.blob(table: table, column: "receiver_data", row: row)
      response.bodySize = ByteCount(text.count)
    case .file: examineFile(of: &response)
    case .inline, .missing, nil: break
    }
  }

  private borrowing func examineFile(of response: inout StoredResponse) {
    response.bodyLocation = .missing
    guard let name = response.bodyFileName.flatMap({ Self.validated($0.bytes) }) else {
      // Such a name counts as a missing body, and is not even looked up: `../../x` would tell
      // whether another file of the user exists.
      response.notes.append(.init(.badBodyFileName, "the name of its body file is not a UUID"))
      return
    }
    do throws(FileError) {
      let status = try status(of: name)
      guard status.kind == .regular else {
        response.notes.append(
          .init(.notARegularFile, "its body file is \(status.kind.rawValue)"))
        return
      }
      response.bodyLocation = .file
      response.bodySize = status.size
      if response.decoded.contains(.share) { addFile(name, of: status.size, to: &response) }
    } catch {
      switch error.kind {
      case .notFound:
        response.notes.append(.init(.missingBodyFile, "its body file is missing"))
      default:
        // It exists, and another user may be able to read it.
        response.bodyLocation = .file
        response.notes.append(
          .init(.unreadableBodyFile, "its body file cannot be read: \(error.reason)"))
      }
    }
  }

  private borrowing func addFile(
    _ name: String, of size: ByteCount, to response: inout StoredResponse
  ) {
    guard let uuid = UUIDBytes(Array(name.utf8)), sharing.byDatabases?.mayName(uuid) != true else {
      return
    }
    response.share?.file = size
    if sharing.byEntries.contains(uuid) {
      let name = response.bodyFileName
      response.share?.sharedFile = name
    }
  }

  /// Opens the body file of a response.
  borrowing func open(_ name: ByteString?) throws(StoreError) -> BodyReader {
    guard let name = name.flatMap({ Self.validated($0.bytes) }) else {
      throw StoreError(.damaged, at: path, because: "the name of the body file is not a UUID")
    }
    var file: String { "\(path)/\(name)" }
    do throws(FileError) {
      // The descriptor is checked after opening. If the name was checked first, another process
      // could put a link or a pipe in its place before it is opened.
      let body = try openFile(name)
      let status = try body.status()
      if status.kind == .regular { return BodyReader(body, size: status.size) }
    } catch {
      guard error.kind == .notFound else { throw StoreError(error, path: file) }
      throw StoreError(.noSuchResponse, at: file, because: "the body file is missing")
    }
    throw StoreError(.damaged, at: file, because: "the body file is not a regular file")
  }

  /// Opens the body file of a response; `nil` if it is missing or no body file.
  borrowing func openIfThere(_ name: ByteString) throws(StoreError) -> BodyReader? {
    do throws(StoreError) { return try open(name) } catch {
      if error.code == .noSuchResponse || error.code == .damaged { return nil }
      // A link cannot be opened.
      if let name = Self.validated(name.bytes), let status = try? status(of: name),
        status.kind != .regular
      {
        return nil
      }
      throw error
    }
  }

  /// Calls `body` with the name and status of each file.
  borrowing func forEachFile(_ body: (_ name: [UInt8], FileStatus) throws -> Void) throws {
    switch directory {
    case .none: return
    case .some(let directory):
      try directory.forEachName { name in
        // Files come and go while an app is running, so a name without a file is no error.
        guard let status = try? directory.status(of: name) else { return }
        try body(name, status)
      }
    }
  }

  /// Whether there is a folder and it can be read.
  var isOpen: Bool {
    switch directory {
    case .none: false
    case .some: true
    }
  }

  /// Removes an orphan if it has not changed, and returns whether it was removed.
  ///
  /// - Parameter newName: If not `nil`, the file gets this name instead.
  borrowing func remove(
    _ orphan: OrphanFile, renamingTo newName: ByteString? = nil
  ) throws(FileError) -> FileStatus? {
    switch directory {
    case .none: return nil
    case .some(let directory):
      do throws(FileError) {
        let status = try directory.status(of: orphan.name)
        guard status.kind == .regular, status.size == orphan.size,
          // A file that has changed since it was listed may belong to a response that an app is
          // storing right now.
          status.modified == orphan.modified
        else { return nil }
        if let newName {
          try directory.rename(Array(orphan.name.utf8), to: newName.bytes)
        } else {
          try directory.remove(orphan.name)
        }
        return status
      } catch {
        guard error.kind == .notFound else { throw error }
        return nil
      }
    }
  }

  private borrowing func status(of name: String) throws(FileError) -> FileStatus {
    switch directory {
    case .none: throw failure
    case .some(let directory): return try directory.status(of: name)
    }
  }

  private borrowing func openFile(_ name: String) throws(FileError) -> OpenFile {
    switch directory {
    case .none: throw failure
    case .some(let directory): return try OpenFile(reading: name, in: directory)
    }
  }

  /// `ENOENT`, which is 2 on every system.
  private static let noSuchFile: Int32 = 2

  /// Returns the name if it is a UUID of 8-4-4-4-12 hexadecimal digits, as CFNetwork writes them.
  ///
  /// This is also what keeps a hostile name such as `../../x` from leaving the folder.
  static func validated(_ name: [UInt8]) -> String? {
    UUIDBytes(name) == nil ? nil : String(decoding: name, as: UTF8.self)
  }
}

/// The 128 bits of a UUID, which need less memory than its text.
struct UUIDBytes: Hashable {
  private var high: UInt64 = 0
  private var low: UInt64 = 0

  /// Parses `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`; `nil` for anything else.
  init?(_ text: [UInt8]) {
    guard text.count == 36 else { return nil }
    for (index, byte) in text.enumerated() {
      if index == 8 || index == 13 || index == 18 || index == 23 {
        guard byte == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = Base16.value(of: byte) else { return nil }
      high = high << 4 | low >> 60
      low = low << 4 | UInt64(digit)
    }
  }
}

/// The names of the body files that responses refer to.
struct AppleBodyFileNames: Sendable {
  /// All names.
  // 16 bytes for each name instead of a text: a cache can have millions of body files.
  private(set) var all: Set<UUIDBytes> = []

  /// The names that several responses refer to.
  private(set) var shared: Set<UUIDBytes> = []

  /// Creates an empty set of names.
  init() {}

  /// Reads the names, which takes a look at each page of the table.
  init(in connection: borrowing Connection, _ layout: AppleLayout) throws(SQLiteError) {
    guard layout.hasBodyFiles else { return }
    var rows = try connection.prepare(
      "SELECT receiver_data FROM \(layout.bodyTable) NOT INDEXED WHERE isDataOnFS > 0")
    while try rows.step() { insert(rows.bytes(at: 0)) }
  }

  /// Inserts the name in one row, if it is that of a body file.
  mutating func insert(_ name: [UInt8]) {
    guard let name = UUIDBytes(name) else { return }
    if !all.insert(name).inserted { shared.insert(name) }
  }
}
