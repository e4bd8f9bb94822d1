#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif
/// Whose a path is: the owners of all folders and links on the way to a file, each looked up in the open folder above it.
///
/// What is looked up by its whole path may be something else at each call, if one of the folders belongs to another user.
public enum PathOwners {
  /// A part of a path.
  public struct Part: Sendable {
    /// The path of the part; links before it may be resolved.
    public let path: String
    /// Its status; that of a link is its own.
    public let status: FileStatus
  }

  /// How many links a path may have, as on Linux.
  private static let mostLinks = 40

  /// Calls `body` with each part of a path, from the root on, and goes on as long as it returns `true`.
  ///
  /// - Throws: ``FileError``, if a part does not exist or cannot be entered.
  public static func forEachPart(
    of path: String, _ body: (Part) -> Bool
  ) throws(FileError) {
    var rest = parts(of: absolutePath(path))[...]
    var folder = try open("/", at: AT_FDCWD, path)
    var (folderPath, links) = ("", 0)
    guard body(Part(path: "/", status: try folder.status())) else { return }
    while let name = rest.popFirst() {
      let here = "\(folderPath)/\(name)"
      let status = try folder.status(of: name)
      switch status.kind {
      case .symbolicLink:
        guard body(Part(path: here, status: status)) else { return }
        links += 1
        guard links <= mostLinks else { throw FileError(ELOOP, at: path) }
        let target = try link(name, in: folder, here)
        rest = (parts(of: target) + rest)[...]
        if target.utf8.first == UInt8(ascii: "/") {
          folder = try open("/", at: AT_FDCWD, path)
          folderPath = ""
        }
      case .directory:
        folder = try open(name, at: folder.descriptor, here)
        folderPath = here
        // Of the folder that was opened: the name may belong to another one by now.
        guard body(Part(path: here, status: try folder.status())) else { return }
      default:
        guard body(Part(path: here, status: status)) else { return }
        if !rest.isEmpty { throw FileError(ENOTDIR, at: path) }
      }
    }
  }

  /// Returns the first part of a path that does not belong to root; `nil` if all do.
  ///
  /// The parts behind it are not looked at: its owner decides what they are.
  public static func firstNotOfRoot(_ path: String) throws(FileError) -> Part? {
    var found: Part?
    try forEachPart(of: path) { part in
      if part.status.owner != 0 { found = part }
      return found == nil
    }
    return found
  }

  /// Returns the first part of a path that another user than root could change or replace; `nil` if there is none.
  public static func firstNotOnlyOfRoot(_ path: String) throws(FileError) -> Part? {
    var found: Part?
    try forEachPart(of: path) { part in
      let status = part.status
      let isOpen =
        status.kind != .symbolicLink && (status.isWritableByOthers || status.isWritableByGroup)
        // In such a folder, everybody may add files, but only their owner may rename or remove them.
        && !(status.kind == .directory && status.isSticky)
      if status.owner != 0 || isOpen { found = part }
      return found == nil
    }
    return found
  }

  private static func parts(of path: String) -> [String] {
    path.utf8.split(separator: UInt8(ascii: "/")).compactMap { part in
      part.elementsEqual(".".utf8) ? nil : String(decoding: Array(part), as: UTF8.self)
    }
  }

  private static func open(
    _ name: String, at folder: Int32, _ path: String
  ) throws(FileError) -> Directory {
    #if canImport(Darwin)
      // `O_SEARCH`, whose macro is none that Swift imports.
      let entering = O_DIRECTORY | 0x4000_0000
    #else
      // `O_PATH`, which not every C header declares.
      let entering = O_DIRECTORY | 0o10_000_000
    #endif
    // A folder may be entered that may not be read.
    let descriptor = unsafe openat(folder, name, entering | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { throw .last(at: path) }
    return Directory(descriptor: descriptor, path: path)
  }

  private static func link(
    _ name: String, in folder: borrowing Directory, _ path: String
  ) throws(FileError) -> String {
    var target = [CChar](repeating: 0, count: 4_097)
    let count = unsafe readlinkat(folder.descriptor, name, &target, target.count - 1)
    guard count >= 0 else { throw .last(at: path) }
    return String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
