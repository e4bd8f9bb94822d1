import Bytes
import Files
import SQLite

/// A private copy of a store, on which a removal is simulated; it is removed when its owner is.
///
/// It is as the store in all that tells what a removal gives back: the pages of the database are the same, and
/// for each body file there is one that is as long and holds nothing. If another process has the store open, this one
/// keeps the copy open: the log then stays, and grows, as that of the store does.
public final class PrivateCopy {
  private let folder: TemporaryDirectory
  private let keeper: Connection?

  /// The path of the copy.
  public var path: String { folder.path }

  /// Whether a signal is to end the process, which it does when the copy is gone.
  public var signalsHaveCome: Bool { folder.signalsHaveCome }

  fileprivate init(
    _ folder: consuming TemporaryDirectory, keptOpen: Bool
  ) throws(SQLiteError) {
    if keptOpen {
      let keeper = try Connection(
        path: "\(folder.path)/\(AppleStoreWriter.databaseName)", access: .readWrite)
      try keeper.execute("SELECT count(*) FROM sqlite_master")
      self.keeper = consume keeper
    } else {
      keeper = nil
    }
    self.folder = folder
  }

  private var isHeld: Bool {
    switch keeper {
    case .none: false
    case .some: true
    }
  }

  /// Opens the copy for reading.
  public func source() throws -> any StoreSource {
    try AppleStore(readingFrom: path, wait: 0, temporaryFolder: path, isHeld: isHeld)
  }

  /// Opens the copy for changing.
  public func store() throws(StoreError) -> any ResponseStore {
    try AppleStoreEditor(changing: path, wait: 0, verifying: false, isHeld: isHeld)
  }
}

extension AppleStore {
  public func makePrivateCopy() throws -> PrivateCopy? {
    do {
      try checkRoom()
      let folder = try TemporaryDirectory(in: temporaryFolder)
      try snapshot.copy(into: folder)
      let copies = try folder.makeFolder(AppleStoreWriter.bodyFolderName)
      try bodies.forEachFile { name, status in
        guard status.kind == .regular, !folder.signalsHaveCome else { return }
        let copy = try OpenFile(creating: name, in: copies)
        try copy.setLength(status.size.bytes)
        // Young files stay as they are, and the copy of one is as old.
        try copy.setModified(status.modified)
      }
      return try PrivateCopy(folder, keptOpen: description.inUse)
    } catch let error as SQLiteError {
      throw StoreError(error, path: temporaryFolder)
    } catch let error as FileError {
      throw StoreError(writing: error)
    }
  }

  /// Makes sure that a copy leaves room for as much again, which the removal needs for a log.
  private func checkRoom() throws {
    let state = try files.state()
    let size = [state.wal, state.journal].reduce(state.database.size) { $0 + ($1?.size ?? 0) }
    let room = try FileSystemStatus.of(temporaryFolder).availableBytes
    guard size * 2 < room else { throw StoreError(.noRoom, at: temporaryFolder) }
  }
}
