import Bytes
import Files

/// A Foundation store that is open for changing.
///
/// A response is a file: it goes by one system call, as a whole, beside whoever has the store open. There
/// is no lock to take. Only what has the name of a file of the store is touched, and only regular files;
/// folders are never removed, and links never followed.
final class FoundationStoreEditor: ResponseStore {
  let files: FoundationFiles
  let intents: IntentFolder?
  /// What this command is about to do, once there is something.
  var intent: OpenIntent?
  /// Whether nothing can be noted.
  var hasNoIntent = false

  /// Opens the folder at `path` for changing.
  ///
  /// - Parameter intents: Where changes are noted before they are made; `nil` if they need not be.
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
      .unsupported, at: files.path, because: "user info is a part of the archive of its entry")
  }

  func remove<Versions: RandomAccessCollection<ResponseVersion>>(
    _ responses: Versions, in order: RemovalOrder, into removal: inout Removal,
    unless shouldStop: () -> Bool
  ) throws(StoreError) where Versions.Index == Int {
    do throws(FileError) {
      do throws(FileError) {
        try unlink(responses, into: &removal, unless: shouldStop)
      } catch {
        // What is gone is gone for good, and the failure that came first is the one to tell.
        try? files.synchronize()
        throw error
      }
      // Otherwise what a user was told is gone could be back after the power failed.
      try files.synchronize()
    } catch {
      throw StoreError(error, path: error.path)
    }
  }

  private func unlink<Versions: RandomAccessCollection<ResponseVersion>>(
    _ responses: Versions, into removal: inout Removal, unless shouldStop: () -> Bool
  ) throws(FileError) where Versions.Index == Int {
    while removal.visited < responses.count, !shouldStop() {
      let response = responses[removal.visited]
      if try remove(response) {
        removal.returnedBytes += response.file?.size ?? 0
      } else {
        removal.skipped.append(response.id)
      }
      removal.visited += 1
    }
  }

  /// Removes the file of a response; `false` if it has none, or has changed.
  private func remove(_ response: ResponseVersion) throws(FileError) -> Bool {
    guard case .file(let id) = response.id, let version = response.file,
      let name = FoundationFileName(of: id)
    else { return false }
    return try files.remove(name, ifStill: version)
  }

  /// Does nothing: the store has no files of bodies.
  func remove(
    orphans: [OrphanFile], into removal: inout Removal, unless shouldStop: () -> Bool
  ) {}

  /// Does nothing: a file that goes leaves nothing free behind.
  func compact(fully: Bool, unless shouldStop: () -> Bool) -> CompactionMethod { .none }
}
