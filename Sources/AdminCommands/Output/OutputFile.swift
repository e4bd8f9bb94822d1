import Files

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
