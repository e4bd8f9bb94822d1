import Bytes
import Files
import Rendering

/// The location of an output file, with links in its folder resolved; it need not exist.
struct OutputPath: Hashable {
  /// The folder, or its path as written if it does not exist.
  let folder: String
  /// The file name.
  let name: String

  /// Creates the location for a path that the user typed.
  init(_ path: String) {
    self.init(absolute: absolutePath(path))
  }

  private init(absolute path: String) {
    let (parent, name) = Self.split(path)
    (folder, self.name) = (Directory.resolvedPath(parent) ?? parent, name)
  }

  /// Whether a file at this path is, or would be mistaken for, a part of any cache.
  ///
  /// A file in place of a write-ahead log can undo commits, and the app would serve a file in place of a body. Names
  /// are compared without case, because some file systems ignore it.
  var isPartOfCache: Bool {
    // A link with a harmless name may lead to a part of a cache.
    let target = Directory.resolvedPath("\(folder)/\(name)").map { Self(absolute: $0) }
    return hasNameOfPart || target?.hasNameOfPart == true
  }

  private var hasNameOfPart: Bool {
    let name = ByteString(name).asciiLowercased.bytes
    let folderName = ByteString(Self.split(folder).name).asciiLowercased.bytes
    if folderName.elementsEqual("fscacheddata".utf8) { return true }
    // Foundation first writes a response under a temporary name with this prefix.
    if name.starts(with: ".dat.nosync".utf8)
      || name.suffix(24).elementsEqual(".storedcachedurlresponse".utf8)
    {
      return true
    }
    for suffix in ["", "-wal", "-shm", "-journal"]
    where name.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) {
      if name.dropLast(suffix.utf8.count).elementsEqual("cache.db".utf8) { return true }
      // Files next to a database with another name belong to SQLite, too.
      let database = String(decoding: self.name.utf8.dropLast(suffix.utf8.count), as: UTF8.self)
      if !suffix.isEmpty, (try? FileStatus.of("\(folder)/\(database)"))?.kind == .regular {
        return true
      }
    }
    return false
  }

  private static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
    let folder = path[..<slash]
    return (folder.isEmpty ? "/" : String(folder), String(path[path.utf8.index(after: slash)...]))
  }
}

extension CommandFailure {
  /// Rejects a path of a file that is, or would be mistaken for, a part of a cache.
  static func refusePartOfCache(at path: String) throws(CommandFailure) {
    guard OutputPath(path).isPartOfCache else { return }
    throw .usage(
      "'\(printable(path))' is inside a cache", hint: "use another name")
  }
}
