import Bytes
import Files
import Rendering

/// Where a file will be, through no link but the file itself, which need not be there yet.
struct OutputPath: Hashable {
  /// The folder, or how it was written if there is none.
  let folder: String
  /// The name in it.
  let name: String

  /// The place of a path as a user writes it.
  init(_ path: String) {
    self.init(absolute: absolutePath(path))
  }

  private init(absolute path: String) {
    let (parent, name) = Self.split(path)
    (folder, self.name) = (Directory.resolvedPath(parent) ?? parent, name)
  }

  /// Whether a file here is, or would be taken for, a part of a cache: of any cache.
  ///
  /// A file in the place of a write-ahead log undoes what was committed, and one in the place of a body is served by the
  /// app. It is told by names, which have no case on some file systems.
  var isPartOfCache: Bool {
    let target = Directory.resolvedPath("\(folder)/\(name)").map { Self(absolute: $0) }
    return hasNameOfPart || target?.hasNameOfPart == true
  }

  private var hasNameOfPart: Bool {
    let name = ByteString(name).asciiLowercased.bytes
    let folderName = ByteString(Self.split(folder).name).asciiLowercased.bytes
    if folderName.elementsEqual("fscacheddata".utf8) { return true }
    if name.starts(with: ".dat.nosync".utf8)
      || name.suffix(24).elementsEqual(".storedcachedurlresponse".utf8)
    {
      return true
    }
    for suffix in ["", "-wal", "-shm", "-journal"]
    where name.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) {
      if name.dropLast(suffix.utf8.count).elementsEqual("cache.db".utf8) { return true }
      // A database of another name: what stands beside it is SQLite's.
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
  /// Refuses to write a file that is, or would be taken for, a part of a cache.
  static func refusePartOfCache(at path: String) throws(CommandFailure) {
    guard OutputPath(path).isPartOfCache else { return }
    throw .usage(
      "'\(printable(path))' is, or would be, a part of a cache", hint: "take another name")
  }
}
