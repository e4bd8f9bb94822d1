#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A folder that appears under its name whole, or not at all.
///
/// It is filled as `NAME.partial`, which only its owner may look into, and which goes with all that was
/// put into it if it is not committed.
public struct NewFolder: ~Copyable {
  /// The path that the folder will have.
  public let path: String

  private let partialPath: String
  private var isCommitted = false
  /// What was made, below the folder, in that order.
  private var (files, folders): ([String], [String]) = ([], [])

  /// Begins a folder that will be at `path`, where there must be nothing, or an empty folder.
  ///
  /// - Throws: ``FileError``, also if there is a folder `NAME.partial`.
  public init(at path: String) throws(FileError) {
    try Self.requireNothing(at: path)
    let partialPath = path + ".partial"
    try Directory.create(partialPath)
    self.partialPath = partialPath
    self.path = path
  }

  deinit {
    guard !isCommitted else { return }
    for file in files { unsafe unlink("\(partialPath)/\(file)") }
    for folder in folders.reversed() { unsafe rmdir("\(partialPath)/\(folder)") }
    unsafe rmdir(partialPath)
  }

  /// Makes a folder in it.
  ///
  /// - Parameter name: Its path below the folder, whose folders were made before.
  public mutating func makeFolder(_ name: String) throws(FileError) {
    try Directory.create("\(partialPath)/\(name)")
    folders.append(name)
  }

  /// Makes a file in it, and waits until it is on the disk.
  ///
  /// - Parameters:
  ///   - name: Its path below the folder, whose folders were made before.
  ///   - write: Calls its parameter with each piece.
  public mutating func makeFile(
    _ name: String, _ write: (_ append: ([UInt8]) throws -> Void) throws -> Void
  ) throws {
    let file = try OpenFile(creating: "\(partialPath)/\(name)")
    files.append(name)
    try write { try file.write($0) }
    try file.synchronize()
  }

  /// Gives the folder its name, once all of it is on the disk.
  public consuming func commit() throws(FileError) {
    for folder in folders { try Directory("\(partialPath)/\(folder)").synchronize() }
    try Directory(partialPath).synchronize()
    try Self.requireNothing(at: path)
    // The system refuses to put it in the place of a folder that holds something.
    guard unsafe rename(partialPath, path) == 0 else { throw .last(at: path) }
    isCommitted = true
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let parent = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    try Directory(parent, followingLink: true).synchronize()
  }

  /// Makes sure that there is nothing at a path, or an empty folder.
  private static func requireNothing(at path: String) throws(FileError) {
    do throws(FileError) {
      guard try FileStatus.of(path).kind == .directory else { throw FileError(EEXIST, at: path) }
    } catch {
      if error.kind == .notFound { return }
      throw error
    }
    var isEmpty = true
    do { try Directory(path).forEachName { _ in isEmpty = false } } catch {
      throw error as? FileError ?? FileError(EIO, at: path)
    }
    if !isEmpty { throw FileError(EEXIST, at: path) }
  }
}
