public import Bytes
import Files

extension AppleStoreEditor {
  /// The number of staged bodies from which it is faster to sync the whole file system, including the
  /// writes of other processes, than each file.
  private static let manyBodies = 64

  public func synchronizeStaged(_ names: [ByteString]) throws(StoreError) {
    try sync(of: names).wait()
  }

  /// Prepares a sync of staged bodies and their names; that of many begins at once.
  func sync(of names: [ByteString]) throws(StoreError) -> StagedFileSync {
    // The intent must be on disk before the files: after a crash it is how they are found as orphans.
    if !names.isEmpty { intent?.synchronize() }
    return StagedFileSync(
      of: names, in: files.bodies, syncingFileSystem: names.count >= Self.manyBodies)
  }
}

/// A sync of staged bodies, which must have ended before rows that refer to them are committed.
///
/// An `fsync` of a file does not promise that its name is on disk; only one of the folder does. Without these syncs, a
/// simulated power failure left rows without body files in 48 of 200 cases, although killing the process never did.
struct StagedFileSync {
  private let names: [ByteString]
  private let folder: String
  /// One `syncfs` makes the same promise for all files at once. In an import of 100,000 responses, nearly all of the
  /// time went into one `fsync` for each body.
  private let fileSystemSync: FileSystemSync?

  /// Prepares a sync of the files with these names.
  ///
  /// - Parameter syncingFileSystem: Whether to sync all of the file system, which another thread begins at once.
  init(of names: [ByteString], in folder: String, syncingFileSystem: Bool) {
    (self.names, self.folder) = (names, folder)
    fileSystemSync = syncingFileSystem ? FileSystemSync(of: folder) : nil
  }

  /// Waits until the files and their names are on disk.
  func wait() throws(StoreError) {
    guard !names.isEmpty else { return }
    do throws(FileError) {
      if try fileSystemSync?.wait() ?? false { return }
      let folder = try Directory(folder)
      for name in names { try OpenFile(reading: name.bytes, in: folder).sendToDrive() }
      try folder.synchronize()
    } catch {
      throw StoreError(writing: error)
    }
  }
}
