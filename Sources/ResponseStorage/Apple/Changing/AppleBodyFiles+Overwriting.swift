import Bytes
import Files

extension AppleBodyFiles {
  /// The number of files from which it is faster to sync the whole file system than each file.
  private static let manyFiles = 64

  /// Overwrites body files with zeros, and waits until that is on disk.
  ///
  /// A file with other names is not changed, as it may be part of a backup made of hard links.
  ///
  /// - Parameters:
  ///   - names: The names of the files, some of which may not exist.
  ///   - removal: Counts the files that cannot be overwritten, and those with other names.
  /// - Returns: The names of the files that can be removed now.
  borrowing func overwrite(
    _ names: [ByteString], into removal: inout Removal
  ) -> [ByteString] {
    switch directory {
    case .none: return names
    case .some(let directory):
      var done: [ByteString] = []
      for name in names {
        do throws(FileError) {
          let isAlone = try Self.overwrite(
            name, in: directory, synchronizing: names.count < Self.manyFiles)
          if !isAlone { removal.linkedFiles += 1 }
          done.append(name)
        } catch {
          // A row may refer to a file that does not exist.
          if error.kind == .notFound { done.append(name) } else { removal.orphanedFiles += 1 }
        }
      }
      if names.count >= Self.manyFiles { Self.synchronize(done, in: directory) }
      return done
    }
  }

  /// Overwrites a file, and returns whether it has no other names.
  private static func overwrite(
    _ name: ByteString, in directory: borrowing Directory, synchronizing: Bool
  ) throws(FileError) -> Bool {
    // A pipe must not even be opened. What is not a regular file is not removed either.
    guard let text = validated(name.bytes), try directory.status(of: text).kind == .regular else {
      return true
    }
    let file = try OpenFile(overwriting: name.bytes, in: directory)
    // Another file may have taken the name since.
    let status = try file.status()
    guard status.kind == .regular else { return true }
    guard status.linkCount == 1 else { return false }
    try file.overwrite()
    if synchronizing { try file.synchronize() }
    return true
  }

  private static func synchronize(_ names: [ByteString], in directory: borrowing Directory) {
    if (try? directory.synchronizeFileSystem()) == true { return }
    for name in names {
      if let file = try? OpenFile(reading: name.bytes, in: directory) { try? file.sendToDrive() }
    }
    try? directory.synchronize()
  }
}
