import Bytes
import Files
import Rendering
import ResponseArchives

/// A file that a command creates, which appears complete or not at all.
protocol OutputFile: AnyObject {
  /// Writes the next bytes.
  func write(_ bytes: [UInt8]) throws(FileError)

  /// Gives the file its name.
  func commit() throws(FileError)
}

/// A folder that a command creates, which appears complete or not at all.
protocol OutputFolder: AnyObject {
  /// Creates a subfolder.
  func makeFolder(_ path: String) throws(FileError)

  /// Creates a file.
  func makeFile(
    _ path: String, _ write: (_ append: ([UInt8]) throws -> Void) throws -> Void
  ) throws

  /// Gives the folder its name.
  func commit() throws(FileError)
}

/// What a command may create and read by its path.
///
/// A worker has none of these rights: it asks who started it.
struct OutputFiles {
  /// Starts a file; the second parameter is whether it may replace another one.
  var create: (String, Bool) throws(FileError) -> any OutputFile

  /// Starts a folder.
  var createFolder: (String) throws(FileError) -> any OutputFolder

  /// The files of this process.
  static var own: OutputFiles {
    OutputFiles(
      create: { path, replacing throws(FileError) in
        try OwnOutputFile(path, replacing: replacing)
      }, createFolder: { path throws(FileError) in try OwnOutputFolder(path) })
  }
}

/// A file that this process creates.
private final class OwnOutputFile: OutputFile {
  private var file: NewFile?
  private let isReplacing: Bool

  init(_ path: String, replacing: Bool) throws(FileError) {
    isReplacing = replacing
    file = try NewFile(at: path, replacing: replacing)
  }

  func write(_ bytes: [UInt8]) throws(FileError) { try file?.write(bytes) }

  func commit() throws(FileError) {
    guard let file = file.take() else { return }
    try file.commit(replacing: isReplacing)
  }
}

/// A folder that this process creates.
private final class OwnOutputFolder: OutputFolder {
  private var folder: NewFolder?

  init(_ path: String) throws(FileError) { folder = try NewFolder(at: path) }

  func makeFolder(_ path: String) throws(FileError) { try folder?.makeFolder(path) }

  func makeFile(
    _ path: String, _ write: (_ append: ([UInt8]) throws -> Void) throws -> Void
  ) throws { try folder?.makeFile(path, write) }

  func commit() throws(FileError) {
    guard let folder = folder.take() else { return }
    try folder.commit()
  }
}

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

/// The folder of an export, which appears complete or not at all.
///
/// While it exists, terminating signals are held back, and make the next file throw, so that nothing partial is left.
final class FolderOutput: ExportFolder {
  private let signals = HeldSignals()
  private let path: String
  private var folder: (any OutputFolder)?

  /// - Parameter path: The path of the folder, which must be empty or not exist.
  init(path: String, _ environment: CommandEnvironment) throws(CommandFailure) {
    // In one stream, nobody could tell where a file ends.
    guard path != "-" else {
      throw .usage("cannot write files to standard output", hint: "name a folder with '-o'")
    }
    // A trailing slash is allowed for a folder that does not exist yet.
    var path = path
    while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
    self.path = path
    try CommandFailure.refusePartOfCache(at: path)
    do throws(FileError) { folder = try environment.files.createFolder(path) } catch {
      throw CommandFailure(creating: error, canBeForced: false)
    }
  }

  deinit {
    // Remove an uncommitted folder before a held signal ends the process.
    folder = nil
  }

  func makeFolder(_ path: String) throws {
    try checkSignals()
    try folder?.makeFolder(path)
  }

  func makeFile(
    _ path: String, _ write: (_ append: ([UInt8]) throws -> Void) throws -> Void
  ) throws {
    try checkSignals()
    try folder?.makeFile(path, write)
  }

  /// Gives the folder its final name.
  func commit() throws {
    try checkSignals()
    guard let folder = folder.take() else { return }
    do throws(FileError) { try folder.commit() } catch {
      throw CommandFailure(creating: error, canBeForced: false)
    }
  }

  private func checkSignals() throws {
    if signals.haveCome { throw FileError.interrupted(at: path) }
  }
}
