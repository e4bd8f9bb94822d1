import Bytes
import Files

extension FoundationFiles {
  /// A file that is about to be removed.
  struct Doomed {
    /// Its new name, under which Foundation ignores it.
    let name: FoundationFileName
    /// Its length.
    let size: ByteCount
    /// Whether it has other names, so that it is not overwritten.
    let isLinked: Bool
  }

  /// Renames a file, if it is still the same version, and overwrites it with zeros.
  ///
  /// - Parameters:
  ///   - newName: A name that Foundation ignores: an app must not read an entry of zeros.
  ///   - synchronizing: Whether to wait until the zeros are on disk.
  /// - Returns: `nil` if it does not exist, or is another file now.
  borrowing func overwrite(
    _ name: FoundationFileName, ifStill version: FileVersion,
    renamingTo newName: FoundationFileName, synchronizing: Bool
  ) throws(FileError) -> Doomed? {
    do throws(FileError) {
      // A `FileVersion` exists for regular files only, so a pipe is not opened.
      guard FileVersion(try folder.status(of: name.bytes)) == version else { return nil }
      let file = try OpenFile(overwriting: name.bytes, in: folder)
      let status = try file.status()
      guard FileVersion(status) == version else { return nil }
      try folder.rename(name.bytes, to: newName.bytes)
      guard try folder.status(of: newName.bytes).identity == status.identity else {
        // An app has replaced the file in between.
        try folder.rename(newName.bytes, to: name.bytes)
        return nil
      }
      let isLinked = status.linkCount > 1
      if !isLinked {
        try file.overwrite()
        if synchronizing { try file.synchronize() }
      }
      return Doomed(name: newName, size: status.size, isLinked: isLinked)
    } catch {
      guard error.kind == .notFound else { throw error }
      return nil
    }
  }

  /// Waits until the contents of files are on disk.
  borrowing func synchronize(_ files: [Doomed]) throws(FileError) {
    if try folder.synchronizeFileSystem() { return }
    try synchronize(files.map(\.name))
  }

  /// Removes overwritten files.
  borrowing func remove(_ files: [Doomed]) throws(FileError) {
    for file in files { try folder.remove(file.name.bytes) }
  }
}
