#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A folder that appears under its name complete, or not at all.
///
/// It is filled under an unpredictable name beside that, which only its owner can access, and is removed with its contents if
/// it is not committed.
public struct NewFolder: ~Copyable {
  /// The final path of the folder.
  public let path: String

  private let partialPath: String
  private var isCommitted = false
  /// The files and folders created in it, in order.
  private var (files, folders): ([String], [String]) = ([], [])

  /// Starts a folder at `path`, which must not exist, or be an empty folder.
  ///
  /// - Throws: ``FileError``.
  public init(at path: String) throws(FileError) {
    try Self.requireNothing(at: path)
    partialPath = try NewFile.withUnusedName(beside: path) { name throws(FileError) in
      do throws(FileError) { try Directory.create(name) } catch {
        throw FileError(error.number, at: path)
      }
    }
    self.path = path
  }

  deinit {
    guard !isCommitted else { return }
    // Only what was created here is removed. A recursive removal would also take what another
    // process has put there.
    for file in files { unsafe unlink("\(partialPath)/\(file)") }
    for folder in folders.reversed() { unsafe rmdir("\(partialPath)/\(folder)") }
    unsafe rmdir(partialPath)
  }

  /// Creates a subfolder.
  ///
  /// - Parameter name: The path in the folder; its parents must have been created before.
  public mutating func makeFolder(_ name: String) throws(FileError) {
    try Directory.create("\(partialPath)/\(name)")
    folders.append(name)
  }

  /// Creates a file in the folder, and waits until it is on disk.
  ///
  /// - Parameters:
  ///   - name: The path in the folder; its parents must have been created before.
  ///   - write: Calls its parameter with each chunk.
  public mutating func makeFile(
    _ name: String, _ write: (_ append: ([UInt8]) throws -> Void) throws -> Void
  ) throws {
    let file = try OpenFile(creating: "\(partialPath)/\(name)")
    files.append(name)
    try write { try file.write($0) }
    try file.synchronize()
  }

  /// Gives the folder its name once everything in it is on disk.
  public consuming func commit() throws(FileError) {
    // The files are on disk already, but their names only after this.
    for folder in folders { try Directory("\(partialPath)/\(folder)").synchronize() }
    try Directory(partialPath).synchronize()
    try Self.requireNothing(at: path)
    // `rename` replaces an empty folder, and fails for one that is not empty.
    guard unsafe rename(partialPath, path) == 0 else { throw .last(at: path) }
    isCommitted = true
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let parent = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    try Directory(parent, followingLink: true).synchronize()
  }

  /// Checks that a path does not exist, or is an empty folder.
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
