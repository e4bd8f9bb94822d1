import Bytes
import Files

/// A Foundation store that is open for changes.
///
/// A response is a file, which one system call removes as a whole, even while another process has the
/// store open. There is no lock to take. Only regular files with the name of a file of the store are
/// changed; folders are never removed, and links never followed.
final class FoundationStoreEditor: ResponseStore {
  let files: FoundationFiles
  let intents: IntentFolder?
  /// The record of what this command is about to do; `nil` until there is something to record.
  var intent: OpenIntent?
  /// Whether recording an intent has failed, so that it is not tried again.
  var hasNoIntent = false
  /// Whether files are overwritten before they are removed.
  var overwrites = false

  /// Opens the folder at `path` for changes.
  ///
  /// - Parameter intents: The folder in which changes are recorded before they are made, or `nil` for none.
  init(changing path: String, intents: IntentFolder? = nil) throws(StoreError) {
    self.intents = intents
    files = try FoundationFiles(at: path)
    do throws(FileError) { try FileAccess.checkWriting(to: path) } catch {
      throw StoreError(error, path: path)
    }
  }

  func change(
    _ changes: [UserInfoChange], into changed: inout Set<StoredResponse.ID>,
    unless shouldStop: () -> Bool
  ) throws(StoreError) {
    throw StoreError(
      .inapplicable, at: files.path, because: "user info is part of each entry's archive")
  }

  func remove(
    _ responses: inout some IteratorProtocol<ResponseVersion>, into removal: inout Removal,
    unless shouldStop: () -> Bool
  ) throws(StoreError) {
    do throws(FileError) {
      do throws(FileError) {
        if overwrites {
          try overwriteAndUnlink(&responses, into: &removal, unless: shouldStop)
        } else {
          try unlink(&responses, into: &removal, unless: shouldStop)
        }
      } catch {
        // Files already removed stay removed, so sync them too; report the first error.
        try? files.synchronize()
        throw error
      }
      // Without this sync, files reported as removed could be back after a power failure.
      try files.synchronize()
    } catch {
      throw StoreError(error, path: error.path)
    }
  }

  private func unlink(
    _ responses: inout some IteratorProtocol<ResponseVersion>, into removal: inout Removal,
    unless shouldStop: () -> Bool
  ) throws(FileError) {
    while let response = responses.next(), !shouldStop() {
      let isLinked = isLinked(response)
      if try remove(response) {
        if isLinked { removal.linkedBytes += response.file?.size ?? 0 }
        // Foundation counts lengths and not blocks, so exactly this much is gained towards its
        // capacity.
        removal.returnedBytes += response.file?.size ?? 0
      } else {
        removal.skipped.append(response.id)
      }
      // Counted only after the removal has returned, so that a signal leaves an exact number.
      removal.visited += 1
      WorkCounter.add()
    }
  }

  /// Whether the file of a response has other names.
  private func isLinked(_ response: ResponseVersion) -> Bool {
    guard case .file(let id) = response.id, let name = FoundationFileName(of: id),
      let status = try? files.status(of: name)
    else { return false }
    return status.linkCount > 1
  }

  /// Removes the file of a response; `false` if it does not exist or has changed.
  private func remove(_ response: ResponseVersion) throws(FileError) -> Bool {
    guard case .file(let id) = response.id, let version = response.file,
      let name = FoundationFileName(of: id)
    else { return false }
    return try files.remove(name, ifStill: version)
  }

  func remove(
    orphans: [OrphanFile], into removal: inout Removal, unless shouldStop: () -> Bool
  ) throws(StoreError) {
    guard !orphans.isEmpty else { return }
    do throws(FileError) {
      for orphan in orphans {
        if shouldStop() { break }
        if try !remove(orphan, &removal) { removal.skippedOrphans.append(orphan.name) }
        removal.visitedOrphans += 1
        WorkCounter.add()
      }
      try files.synchronize()
    } catch {
      throw StoreError(error, path: files.path)
    }
  }

  /// Removes a file that Foundation ignores; `false` if it does not exist or has changed.
  private func remove(
    _ orphan: OrphanFile, _ removal: inout Removal
  ) throws(FileError) -> Bool {
    // The name comes from a plan, which is a file that anyone may have edited: never an entry, or a file outside.
    guard let name = FoundationFileName(Array(orphan.name.utf8)), !name.isSeen,
      let version = files.version(of: name), version.size == orphan.size,
      version.modified == orphan.modified
    else { return false }
    let isLinked = (try files.status(of: name)?.linkCount ?? 0) > 1
    guard overwrites else {
      guard try files.remove(name, ifStill: version) else { return false }
      removal.returnedBytes += version.size
      if isLinked { removal.linkedBytes += version.size }
      return true
    }
    return try overwriteAndUnlink(name, version, into: &removal)
  }

  /// Does nothing: removing a file leaves no free space behind.
  func compact(fully: Bool, unless shouldStop: () -> Bool) -> CompactionMethod { .none }
}
