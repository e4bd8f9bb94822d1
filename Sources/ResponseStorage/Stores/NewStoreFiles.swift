import Files

/// What the making of a store adds to a folder, so that it can be taken away again.
struct NewStoreFiles {
  private let folder: String
  /// The folders that were not there before, the inner one first.
  private let madeFolders: [String]

  /// Looks at what is there before a store is made.
  init(at folder: String) {
    self.folder = folder
    madeFolders = ["\(folder)/\(AppleStoreWriter.bodyFolderName)", folder].filter {
      (try? FileStatus.of($0)) == nil
    }
  }

  /// Does what makes a store, or a part of one; if that fails, the folders that were made go.
  func removingFolders<Result: ~Copyable>(_ make: () throws -> Result) throws -> Result {
    do { return try make() } catch {
      removeFolders()
      throw error
    }
  }

  /// Removes the folders that were made, as far as they are empty.
  private func removeFolders() {
    for path in madeFolders { try? Directory.removeEmpty(path) }
  }

  /// Removes the database that was made and is closed, unless somebody uses it already.
  func removeDatabase(_ opening: StoreOpening) {
    do {
      let store = try opening.open()
      guard !store.description.inUse, (try? store.count()) == 0 else { return }
    } catch let error as StoreError where [.inUse, .changedWhileReading].contains(error.code) {
      // Somebody has locked it.
      return
    } catch {
      // It was not made as a whole.
    }
    Self.removeDatabase(in: folder)
    removeFolders()
  }

  /// Removes a database that was made in a folder, with its log and its journal.
  static func removeDatabase(in folder: String) {
    guard let directory = try? Directory(folder, followingLink: true) else { return }
    for suffix in ["", "-wal", "-shm", "-journal"] {
      try? directory.remove(AppleStoreWriter.databaseName + suffix)
    }
  }
}
