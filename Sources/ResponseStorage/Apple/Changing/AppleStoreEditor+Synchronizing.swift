public import Bytes
import Files

extension AppleStoreEditor {
  /// The number of staged bodies from which it is faster to sync the whole file system, including the
  /// writes of other processes, than each file.
  private static let manyBodies = 64

  public func synchronizeStaged(_ names: [ByteString]) throws(StoreError) {
    try synchronization(of: names).wait()
  }

  /// Begins to sync staged bodies and their names.
  func synchronization(of names: [ByteString]) throws(StoreError) -> StagedSynchronization {
    guard !names.isEmpty else { return StagedSynchronization() }
    // The intent must be on disk before the files: after a crash it is how they are found as orphans.
    intent?.synchronize()
    return StagedSynchronization(
      of: names, in: files.bodies, together: names.count >= Self.manyBodies)
  }
}

/// A sync of staged bodies, which must have ended before rows that refer to them are committed.
///
/// An `fsync` of a file does not promise that its name is on disk; only one of the folder does. Without these syncs, a
/// simulated power failure left rows without body files in 48 of 200 cases, although killing the process never did.
struct StagedSynchronization {
  private let names: [ByteString]
  private let folder: String
  /// One `syncfs` makes the same promise for all files at once. In an import of 100,000 responses, nearly all of the
  /// time went into one `fsync` for each body.
  private let all: FileSystemSync?

  /// A sync of nothing.
  init() {
    (names, folder, all) = ([], "", nil)
  }

  /// Begins to sync the files with these names.
  ///
  /// - Parameter together: Whether to sync all of the file system, which another thread begins at once.
  init(of names: [ByteString], in folder: String, together: Bool) {
    (self.names, self.folder) = (names, folder)
    all = together ? FileSystemSync(of: folder) : nil
  }

  /// Waits until the files and their names are on disk.
  func wait() throws(StoreError) {
    guard !names.isEmpty else { return }
    do throws(FileError) {
      if try all?.wait() ?? false { return }
      for name in names {
        let path = "\(folder)/\(String(decoding: name.bytes, as: UTF8.self))"
        try OpenFile(reading: path).synchronize()
      }
      try Directory(folder).synchronize()
    } catch {
      throw StoreError(writing: error)
    }
  }
}
