#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif
#if os(Linux)
  internal import CFiles
#endif

/// A file that appears under its name whole, or not at all.
///
/// It is written as `NAME.partial`, which only its owner may read, and which goes if it is not
/// committed. What a process that was killed has left of one is written over.
public struct NewFile: ~Copyable {
  /// The path that the file will have.
  public let path: String

  private let partialPath: String
  private let descriptor: Int32
  private var isCommitted = false

  /// How many bytes were written, and up to which the system was told to put them onto the disk.
  private var written: Int64 = 0
  private var begun: Int64 = 0

  /// How many bytes are put onto the disk at once.
  private static let pieceSize: Int64 = 8 << 20

  /// Begins a file that will be at `path`.
  ///
  /// - Parameter replacing: Whether it may replace a file or a link that is there; otherwise one is an error.
  /// - Throws: ``FileError``, also if another process is writing the same file, or if a device or a pipe has the
  ///   name: a file in the place of `/dev/null` would be no good to anybody.
  public init(at path: String, replacing: Bool) throws(FileError) {
    // A name of nothing but '.partial' could be created, and then not be renamed.
    guard !path.isEmpty else { throw FileError(ENOENT, at: path) }
    try Self.requireNothing(at: path, orReplaceable: replacing)
    let partialPath = path + ".partial"
    descriptor = try Self.openLocked(partialPath, for: path)
    self.partialPath = partialPath
    self.path = path
  }

  /// Finds out whether a file can begin at `path` now, and leaves nothing there.
  ///
  /// That another process is writing the same file is no error: its folder can be written to.
  ///
  /// - Parameter replacing: As of ``init(at:replacing:)``, whose errors this throws.
  public static func check(at path: String, replacing: Bool) throws(FileError) {
    do throws(FileError) { _ = try NewFile(at: path, replacing: replacing) } catch {
      if error.kind != .busy { throw error }
    }
  }

  /// Finds out whether anything has the name of a new file already; nothing is created for that.
  ///
  /// - Throws: ``FileError``, also if there is no folder that the file could be in.
  public static func requireNothing(at path: String) throws(FileError) {
    try requireNothing(at: path, orReplaceable: false)
    do throws(FileError) { _ = try Directory(folder(of: path), followingLink: true) } catch {
      throw FileError(error.number, at: path)
    }
  }

  private static func folder(of path: String) -> String {
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    return slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
  }

  deinit {
    if !isCommitted { unsafe unlink(partialPath) }
    close(descriptor)
  }

  /// Appends bytes.
  public mutating func write(_ bytes: [UInt8]) throws(FileError) {
    try writeAll(bytes[...], to: descriptor, path: path)
    written += Int64(bytes.count)
    #if os(Linux)
      // What is put onto the disk meanwhile need not be waited for in the end.
      guard written - begun >= Self.pieceSize else { return }
      cfiles_begin_writing(descriptor, begun, written - begun)
      begun = written
    #endif
  }

  /// Gives the file its name, once it is on the disk.
  ///
  /// - Parameters:
  ///   - replacing: Whether it may replace a file that came meanwhile.
  ///   - isReadableByAll: Whether everybody may read it, and not only its owner.
  public consuming func commit(
    replacing: Bool, isReadableByAll: Bool = false
  ) throws(FileError) {
    if isReadableByAll, fchmod(descriptor, 0o644) != 0 { throw .last(at: path) }
    guard fsync(descriptor) == 0 else { throw .last(at: path) }
    if replacing {
      try Self.requireNothing(at: path, orReplaceable: true)
      guard unsafe rename(partialPath, path) == 0 else { throw .last(at: path) }
    } else {
      try Self.renameToNew(partialPath, path)
    }
    isCommitted = true
    try Directory(Self.folder(of: path), followingLink: true).synchronize()
  }

  /// Renames a file, and never replaces another one, however shortly before that one came.
  private static func renameToNew(_ name: String, _ newName: String) throws(FileError) {
    #if canImport(Darwin)
      if unsafe renamex_np(name, newName, UInt32(RENAME_EXCL)) == 0 { return }
    #else
      if unsafe cfiles_rename_new(name, newName) == 0 { return }
    #endif
    // Some file systems (NFS, FUSE) and old kernels only know how to replace.
    guard [EINVAL, ENOSYS, ENOTSUP].contains(errno) else { throw .last(at: newName) }
    if unsafe link(name, newName) == 0 {
      // With two names the file is complete all the same.
      unsafe unlink(name)
      return
    }
    guard [EPERM, ENOSYS, ENOTSUP, EMLINK].contains(errno) else { throw .last(at: newName) }
    // A file system without links either (exFAT) leaves a moment between the check and the renaming.
    try requireNothing(at: newName, orReplaceable: false)
    guard unsafe rename(name, newName) == 0 else { throw .last(at: newName) }
  }

  private static func requireNothing(
    at path: String, orReplaceable isReplaceable: Bool
  ) throws(FileError) {
    let there: FileStatus
    do throws(FileError) { there = try FileStatus.of(path) } catch {
      if error.kind == .notFound { return }
      throw error
    }
    guard isReplaceable else { throw FileError(EEXIST, at: path) }
    switch there.kind {
    case .regular, .symbolicLink: return
    case .directory: throw FileError(EISDIR, at: path)
    default: throw .notReplaceable(at: path)
    }
  }

  /// Opens a file that no other process writes, and empties it.
  ///
  /// - Parameter path: The name that errors give it.
  private static func openLocked(
    _ partialPath: String, for path: String
  ) throws(FileError) -> Int32 {
    while true {
      let descriptor = unsafe open(partialPath, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw .last(at: path) }
      do throws(FileError) {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw .last(at: path) }
        // Whoever had the lock may have given the file its name meanwhile.
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .last(at: path) }
        if status.st_nlink > 1 {
          // A process that was killed had given the complete file its name: emptying this one would empty that.
          unsafe unlink(partialPath)
        } else if let there = try? FileStatus.of(partialPath),
          there.identity == FileStatus(status).identity
        {
          guard fchmod(descriptor, 0o600) == 0, ftruncate(descriptor, 0) == 0 else {
            throw .last(at: path)
          }
          return descriptor
        }
      } catch {
        close(descriptor)
        throw error
      }
      close(descriptor)
    }
  }
}
