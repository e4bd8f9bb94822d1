import Files

/// The files and folders that creating a store adds to a folder, so that they can be removed if it fails.
struct NewStoreFiles {
  private let folder: String
  /// The folders that did not exist before, the inner one first.
  private let madeFolders: [String]

  /// Records what exists before a store is created.
  init(at folder: String) {
    self.folder = folder
    madeFolders = ["\(folder)/\(AppleStoreWriter.bodyFolderName)", folder].filter {
      (try? FileStatus.of($0)) == nil
    }
  }

  /// Runs a step of creating a store; if it fails, the created folders are removed.
  func removingFolders<Result: ~Copyable>(_ make: () throws -> Result) throws -> Result {
    do { return try make() } catch {
      removeFolders()
      throw error
    }
  }

  /// Removes the created folders if they are empty.
  private func removeFolders() {
    for path in madeFolders { try? Directory.removeEmpty(path) }
  }

  /// Removes the created database, which is closed, unless another process already uses it.
  func removeDatabase(_ opening: StoreOpening) {
    do {
      // Asked by opening it like any other store: only locks and rows show whether somebody has
      // begun to use it.
      let store = try opening.open()
      // An app may have opened the new database, or stored entries in it, meanwhile.
      guard !store.description.inUse, (try? store.count()) == 0 else { return }
    } catch let error as StoreError where [.inUse, .changedWhileReading].contains(error.code) {
      // Another process has locked it.
      return
    } catch {
      // It was only partly created.
    }
    Self.removeDatabase(in: folder)
    removeFolders()
  }

  /// Removes the database in a folder, with its log and journal.
  static func removeDatabase(in folder: String) {
    guard let directory = try? Directory(folder, followingLink: true) else { return }
    // The database first: nothing reads a log without its database, while a database without its
    // log lacks rows.
    for suffix in ["", "-wal", "-shm", "-journal"] {
      try? directory.remove(AppleStoreWriter.databaseName + suffix)
    }
  }
}
