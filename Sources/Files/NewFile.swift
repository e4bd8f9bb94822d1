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

/// A file that appears under its name complete, or not at all.
///
/// It is written as `NAME.partial`, which only its owner may read, and which is removed if it is not
/// committed. A partial file of a killed process is overwritten.
public struct NewFile: ~Copyable {
  /// The final path of the file.
  public let path: String

  private let partialPath: String
  private let descriptor: Int32
  private var isCommitted = false

  /// The number of bytes written, and the number of them whose write-back to disk has started.
  private var written: Int64 = 0
  private var begun: Int64 = 0

  /// The number of bytes after which write-back starts.
  // Without this, all of an archive waited for the disk at its end.
  private static let pieceSize: Int64 = 8 << 20

  /// Starts a file at `path`.
  ///
  /// - Parameter replacing: Whether it may replace an existing file or link; otherwise that is an error.
  /// - Throws: ``FileError``, also if another process is writing the same file, or if `path` is a device or pipe,
  ///   as replacing `/dev/null` would break other programs.
  public init(at path: String, replacing: Bool) throws(FileError) {
    // '.partial' could be created, but not be renamed to an empty name.
    guard !path.isEmpty else { throw FileError(ENOENT, at: path) }
    try Self.requireNothing(at: path, orReplaceable: replacing)
    let partialPath = path + ".partial"
    descriptor = try Self.openLocked(partialPath, for: path)
    self.partialPath = partialPath
    self.path = path
  }

  /// Checks whether a file can be created at `path`, without leaving anything behind.
  ///
  /// If another process is writing the same file, that is not an error, as it shows that the folder is writable.
  ///
  /// - Parameter replacing: As for ``init(at:replacing:)``, whose errors this throws.
  public static func check(at path: String, replacing: Bool) throws(FileError) {
    do throws(FileError) { _ = try NewFile(at: path, replacing: replacing) } catch {
      if error.kind != .busy { throw error }
    }
  }

  /// Checks that `path` does not exist, without creating anything.
  ///
  /// - Throws: ``FileError``, also if its folder does not exist.
  public static func requireNothing(at path: String) throws(FileError) {
    try requireNothing(at: path, orReplaceable: false)
    do throws(FileError) { _ = try Directory(folder(of: path), followingLink: true) } catch {
      throw FileError(error.number, at: path)
    }
  }

  /// Reserves room on disk for a file at `path`, until the returned file is closed.
  ///
  /// - Throws: ``FileError`` of the kind `noRoom` if there is no room.
  public static func reserveRoom(_ bytes: Int64, at path: String) throws(FileError) -> TemporaryFile
  {
    do throws(FileError) {
      let file = try TemporaryFile(in: folder(of: path))
      try file.reserveRoom(bytes)
      return file
    } catch {
      // It is about the new file, and not about temporary data.
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
      // Write-back that starts now shortens the wait at the end.
      guard written - begun >= Self.pieceSize else { return }
      cfiles_begin_writing(descriptor, begun, written - begun)
      begun = written
    #endif
  }

  /// Gives the file its name once it is on disk.
  ///
  /// - Parameters:
  ///   - replacing: Whether it may replace a file created meanwhile.
  ///   - isReadableByAll: Whether all users may read it, and not only its owner.
  public consuming func commit(
    replacing: Bool, isReadableByAll: Bool = false
  ) throws(FileError) {
    if isReadableByAll, fchmod(descriptor, 0o644) != 0 { throw .last(at: path) }
    // Before the renaming: otherwise a power failure could leave the name with an empty file.
    guard synchronize(descriptor, .stored) else { throw .last(at: path) }
    if replacing {
      try Self.requireNothing(at: path, orReplaceable: true)
      guard unsafe rename(partialPath, path) == 0 else { throw .last(at: path) }
    } else {
      try Self.renameToNew(partialPath, path)
    }
    isCommitted = true
    // Without this sync, the new name could be lost after a power failure.
    try Directory(Self.folder(of: path), followingLink: true).synchronize()
  }

  /// Renames a file without ever replacing another one, even one created a moment before.
  private static func renameToNew(_ name: String, _ newName: String) throws(FileError) {
    #if canImport(Darwin)
      if unsafe renamex_np(name, newName, UInt32(RENAME_EXCL)) == 0 { return }
    #else
      if unsafe cfiles_rename_new(name, newName) == 0 { return }
    #endif
    // Some file systems (NFS, FUSE) and old kernels can only rename with replacement.
    guard [EINVAL, ENOSYS, ENOTSUP].contains(errno) else { throw .last(at: newName) }
    if unsafe link(name, newName) == 0 {
      // Until then the file has two names, and is complete under both.
      unsafe unlink(name)
      return
    }
    guard [EPERM, ENOSYS, ENOTSUP, EMLINK].contains(errno) else { throw .last(at: newName) }
    // A file system without links (exFAT) leaves a gap between the check and the renaming.
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

  /// Opens a file that no other process is writing, and empties it.
  ///
  /// - Parameter path: The path for errors.
  private static func openLocked(
    _ partialPath: String, for path: String
  ) throws(FileError) -> Int32 {
    while true {
      let descriptor = unsafe open(partialPath, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw .last(at: path) }
      do throws(FileError) {
        // Two commands with one `-o` would write into the same file. The second one reports that it
        // is busy.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw .last(at: path) }
        // The previous holder of the lock may have renamed the file before it released the lock.
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .last(at: path) }
        if status.st_nlink > 1 {
          // A killed process had linked the complete file to its name: truncating this one would empty both.
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
