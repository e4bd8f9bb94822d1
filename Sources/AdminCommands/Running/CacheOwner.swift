import Files
import ResponseStorage

/// Whose cache it is that root works on, decided on open folders.
enum CacheOwner {
  /// Returns the user to whom a cache belongs; `nil` if it is root, or if there is nothing.
  ///
  /// Only folders of root are entered: the first one that is not decides, because its owner decides what is in it. Whether the
  /// rest belongs to the same user is for the worker to check, with the rights of that user.
  static func user(ofCacheAt path: String) throws -> UInt32? {
    var (owner, changeable): (PathOwners.Part?, PathOwners.Part?)
    for path in [path, path + "/Cache.db"] {
      do throws(FileError) {
        try PathOwners.forEachPart(of: path) { part in
          let status = part.status
          if status.owner != 0 {
            owner = part
          } else if status.kind == .directory, status.isWritableByOthers, !status.isSticky {
            changeable = part
          }
          return owner == nil && changeable == nil
        }
      } catch {
        // The command reports that.
        if error.kind != .notFound { throw error }
      }
    }
    if let changeable {
      throw refusal(of: path, "every user can replace what is in '\(changeable.path)'")
    }
    guard let owner else { return nil }
    guard [.directory, .symbolicLink].contains(owner.status.kind) else {
      throw refusal(
        of: path, "'\(owner.path)' belongs to user \(owner.status.owner), but its folder to root")
    }
    return owner.status.owner
  }

  /// Throws an error unless a cache belongs to a user, and all folders and links on the way to it to that user or root.
  static func requireAll(of path: String, toBelongTo user: UInt32) throws {
    var foreign: PathOwners.Part?
    var last: PathOwners.Part?
    var folder: PathOwners.Part?
    for path in [path, path + "/Cache.db"] {
      do throws(FileError) {
        try PathOwners.forEachPart(of: path) { part in
          if part.status.owner != user, part.status.owner != 0 { foreign = part }
          if part.status.kind == .directory { folder = part }
          last = part
          return foreign == nil
        }
      } catch {
        // A cache that is to be created, or is none: the command reports that. What cannot be entered cannot be changed.
        if error.kind == .other { throw error }
      }
    }
    for part in [foreign, last, folder] {
      guard let part, part.status.owner != user else { continue }
      throw refusal(
        of: path, "'\(part.path)' belongs to user \(part.status.owner), and not to user \(user)")
    }
  }

  private static func refusal(of path: String, _ reason: String) -> CommandFailure {
    CommandFailure(
      .noPermission, kind: "no-permission",
      "root does not work on the cache at '\(path)': \(reason)",
      hint: "give the cache and the folders above it to one user or to root", path: path)
  }
}
