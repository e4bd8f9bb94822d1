import Bytes
import Files
import SQLite

/// A private copy of a store, for the simulation of a removal. It is deleted when the object is.
///
/// The copy has everything that determines how much space a removal frees: the same database pages, and an empty
/// sparse file of the same length for each body file. If another process has the store open, the copy is kept open
/// too, so that its log remains and grows like that of the store.
public final class PrivateCopy {
  private let folder: TemporaryDirectory
  private let keeper: Connection?

  /// The path of the copy.
  public var path: String { folder.path }

  /// Whether a signal was received that ends the process once the copy is deleted.
  public var signalsHaveCome: Bool { folder.signalsHaveCome }

  fileprivate init(
    _ folder: consuming TemporaryDirectory, keptOpen: Bool
  ) throws(SQLiteError) {
    if keptOpen {
      let keeper = try Connection(
        path: "\(folder.path)/\(AppleStoreWriter.databaseName)", access: .readWrite)
      // SQLite opens the log only at the first read.
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

  /// Opens the copy for changes.
  public func store() throws(StoreError) -> any ResponseStore {
    try AppleStoreEditor(changing: path, wait: 0, verifying: false, isHeld: isHeld)
  }
}

extension AppleStore {
  public func makePrivateCopy() throws -> PrivateCopy? {
    do {
      // A dry run must not fill the disk for the apps that use it.
      try checkRoom()
      let folder = try TemporaryDirectory(in: temporaryFolder)
      try snapshot.copy(into: folder)
      let copies = try folder.makeFolder(AppleStoreWriter.bodyFolderName)
      try bodies.forEachFile { name, status in
        guard status.kind == .regular, !folder.signalsHaveCome else { return }
        let copy = try OpenFile(creating: name, in: copies)
        // A sparse file has a length and takes up no room, and a removal counts lengths only. So a
        // dry run of a cache of gigabytes costs no more than a copy of its database.
        try copy.setLength(status.size.bytes)
        // Young files are not removed, so each copy must have the age of its original.
        try copy.setModified(status.modified)
      }
      return try PrivateCopy(folder, keptOpen: description.inUse)
    } catch let error as SQLiteError {
      throw StoreError(error, path: temporaryFolder)
    } catch let error as FileError {
      throw StoreError(writing: error)
    }
  }

  /// Checks that there is room for the copy twice, as the removal needs as much again for its log.
  private func checkRoom() throws {
    let state = try files.state()
    let size = [state.wal, state.journal].reduce(state.database.size) { $0 + ($1?.size ?? 0) }
    // A removal that touches every page writes the whole database to the log.
    let room = try FileSystemStatus.of(temporaryFolder).availableBytes
    guard size * 2 < room else { throw StoreError(.noRoom, at: temporaryFolder) }
  }
}
