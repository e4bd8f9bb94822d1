import Bytes
import Files

extension FoundationStoreEditor {
  /// The number of files that are overwritten before they are removed together.
  private static let batchSize = 256
  /// The number of files from which it is faster to sync the whole file system than each file.
  private static let manyFiles = 64

  func overwriteRemovedFiles() { overwrites = true }

  /// Returns `true`: a folder of files has no free space, and removed files are overwritten one by one.
  func erase(fully: Bool, unless shouldStop: () -> Bool) -> Bool { true }

  /// Removes the files of responses, after overwriting them.
  func overwriteAndUnlink(
    _ responses: inout some IteratorProtocol<ResponseVersion>, into removal: inout Removal,
    unless shouldStop: () -> Bool
  ) throws(FileError) {
    while true {
      let batch = responses.next(Self.batchSize)
      guard !batch.isEmpty, !shouldStop() else { return }
      let newNames = batch.map { _ in FoundationFileName.temporary() }
      for name in newNames { noteStaging(of: name) }
      intent?.synchronize()
      let synchronizesEach = batch.count < Self.manyFiles
      var doomed: [FoundationFiles.Doomed] = []
      for (response, newName) in zip(batch, newNames) {
        if let file = try overwrite(response, newName, synchronizesEach) {
          doomed.append(file)
        } else {
          removal.skipped.append(response.id)
        }
        WorkCounter.add()
      }
      if !synchronizesEach { try files.synchronize(doomed) }
      try remove(doomed, into: &removal)
      removal.visited += batch.count
    }
  }

  /// Removes a file, after overwriting it; `false` if it does not exist or has changed.
  func overwriteAndUnlink(
    _ name: FoundationFileName, _ version: FileVersion, into removal: inout Removal
  ) throws(FileError) -> Bool {
    let newName = FoundationFileName.temporary()
    noteStaging(of: newName)
    intent?.synchronize()
    guard
      let doomed = try files.overwrite(
        name, ifStill: version, renamingTo: newName, synchronizing: true)
    else { return false }
    try remove([doomed], into: &removal)
    return true
  }

  /// Removes overwritten files, and counts them.
  private func remove(
    _ doomed: [FoundationFiles.Doomed], into removal: inout Removal
  ) throws(FileError) {
    try files.remove(doomed)
    removal.returnedBytes += doomed.reduce(0) { $0 + $1.size }
    removal.linkedFiles += doomed.count { $0.isLinked }
    removal.linkedBytes += doomed.reduce(0) { $0 + ($1.isLinked ? $1.size : 0) }
    intent?.settleBatch()
  }

  private func overwrite(
    _ response: ResponseVersion, _ newName: FoundationFileName, _ synchronizes: Bool
  ) throws(FileError) -> FoundationFiles.Doomed? {
    guard case .file(let id) = response.id, let version = response.file,
      let name = FoundationFileName(of: id)
    else { return nil }
    return try files.overwrite(
      name, ifStill: version, renamingTo: newName, synchronizing: synchronizes)
  }
}
