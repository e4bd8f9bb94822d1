import Files

/// A source of which a private copy can be made, to try there what a removal would give back.
public protocol TrialSource: ResponseSource {
  /// Makes a private copy of the store as it is.
  ///
  /// - Throws: ``StoreError``, `noRoom` also if the copy would take more than half of the room for it.
  func makeTrial() throws -> StoreTrial
}

/// A private copy of a store, to try a removal on; it goes with its owner.
///
/// It is as the store in all that tells what a removal gives back: the pages of the database are the same, and
/// for each body file there is one that is as long and holds nothing.
public final class StoreTrial {
  private let folder: TemporaryDirectory

  /// The path of the copy.
  public var path: String { folder.path }

  /// Whether a signal is to end the process, which it does when the copy is gone.
  public var signalsHaveCome: Bool { folder.signalsHaveCome }

  fileprivate init(_ folder: consuming TemporaryDirectory) { self.folder = folder }
}

extension AppleStore: TrialSource {
  public func makeTrial() throws -> StoreTrial {
    do {
      try checkRoom()
      let folder = try TemporaryDirectory(in: temporaryFolder)
      try snapshot.copy(into: folder)
      let copies = try folder.makeFolder(AppleStoreWriter.bodyFolderName)
      try bodies.forEachFile { name, status in
        guard status.kind == .regular, !folder.signalsHaveCome else { return }
        try OpenFile(creating: name, in: copies).setLength(status.size)
      }
      return StoreTrial(folder)
    } catch let error as FileError {
      throw StoreError(writing: error)
    }
  }

  /// Makes sure that a copy leaves room for as much again, which the removal needs for a log.
  private func checkRoom() throws {
    let state = try files.state()
    let size = [state.wal, state.journal].reduce(state.database.size) {
      $0.addingClamped($1?.size ?? 0)
    }
    let room = try FileSystemStatus.of(temporaryFolder).availableBytes
    guard size < room / 2 else { throw StoreError(.noRoom, at: temporaryFolder) }
  }
}
