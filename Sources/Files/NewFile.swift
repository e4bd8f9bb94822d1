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
/// Until then it has no name where the system allows that (`O_TMPFILE`), so that nothing is left of it however the process
/// ends; else an unpredictable one, under which nothing was before. Only its owner may read it.
public struct NewFile: ~Copyable {
  /// The final path of the file.
  public let path: String

  private let descriptor: Int32
  /// The name that the file has until it is committed; `nil` if it has none.
  private var temporaryPath: String?

  /// The number of bytes written, and the number of them whose write-back to disk has started.
  private var written: Int64 = 0
  private var begun: Int64 = 0

  /// The number of bytes after which write-back starts.
  // Without this, all of an archive waited for the disk at its end.
  private static let pieceSize: Int64 = 8 << 20

  /// Starts a file at `path`.
  ///
  /// - Parameter replacing: Whether it may replace an existing file or link; otherwise that is an error.
  /// - Throws: ``FileError``, also if `path` is a device or pipe, as replacing `/dev/null` would break other programs.
  public init(at path: String, replacing: Bool) throws(FileError) {
    // A temporary file could be created, but not be renamed to an empty name.
    guard !path.isEmpty, path.utf8.last != UInt8(ascii: "/") else {
      throw FileError(path.isEmpty ? ENOENT : EISDIR, at: path)
    }
    try Self.requireNothing(at: path, orReplaceable: replacing)
    let unnamed = Self.openUnnamed(in: Self.folder(of: path))
    let opened = unnamed >= 0 ? (unnamed, nil) : try Self.openNamed(beside: path)
    (self.path, descriptor, temporaryPath) = (path, opened.0, opened.1)
  }

  /// Checks whether a file can be created at `path`, without leaving anything behind.
  ///
  /// - Parameter replacing: As for ``init(at:replacing:)``, whose errors this throws.
  public static func check(at path: String, replacing: Bool) throws(FileError) {
    _ = try NewFile(at: path, replacing: replacing)
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

  /// Returns the folder of a path: `.` for a name alone.
  public static func folder(of path: String) -> String {
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    return slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
  }

  deinit {
    if let temporaryPath { unsafe unlink(temporaryPath) }
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
    let mode = isReadableByAll ? 0o644 : replacing ? Self.modeOfOwn(path) : 0o600
    if mode != 0o600, fchmod(descriptor, mode) != 0 { throw .last(at: path) }
    // Before the renaming: otherwise a power failure could leave the name with an empty file.
    guard synchronize(descriptor, .stored) else { throw .last(at: path) }
    if replacing { try Self.requireNothing(at: path, orReplaceable: true) }
    if temporaryPath == nil {
      // A name is only given to a file that has none where nothing else has the name.
      if !replacing {
        try giveName(path)
        return try synchronizeFolder()
      }
      temporaryPath = try Self.withUnusedName(beside: path) { name throws(FileError) in
        try giveName(name)
      }
    }
    guard let name = temporaryPath else { return }
    if replacing {
      guard unsafe rename(name, path) == 0 else { throw .last(at: path) }
    } else {
      try Self.renameToNew(name, path)
    }
    temporaryPath = nil
    try synchronizeFolder()
  }

  /// Without this, the new name could be lost after a power failure.
  private borrowing func synchronizeFolder() throws(FileError) {
    try Directory(Self.folder(of: path), followingLink: true).synchronize()
  }

  /// Returns who may read and write the file of this user that is replaced; otherwise only the owner may.
  private static func modeOfOwn(_ path: String) -> mode_t {
    var there = stat()
    guard unsafe lstat(path, &there) == 0, there.st_mode & S_IFMT == S_IFREG,
      there.st_uid == geteuid()
    else { return 0o600 }
    return there.st_mode & 0o666 | 0o600
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

  /// Opens a file without a name; less than zero if the system or the file system has no such files.
  private static func openUnnamed(in folder: String) -> Int32 {
    #if os(Linux)
      // `O_TMPFILE`, which not every C header declares; it contains O_DIRECTORY, so that old kernels refuse it.
      let descriptor = unsafe open(folder, 0o20_000_000 | O_DIRECTORY | O_RDWR | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { return descriptor }
      // Its name is given to it by way of `/proc`, which a `chroot` may not have.
      if unsafe access("/proc/self/fd/\(descriptor)", F_OK) == 0 { return descriptor }
      close(descriptor)
    #endif
    return -1
  }

  /// Gives a file without a name a name that nothing has yet.
  private borrowing func giveName(_ name: String) throws(FileError) {
    #if os(Linux)
      let link = "/proc/self/fd/\(descriptor)"
      guard unsafe linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 else {
        throw .last(at: path)
      }
    #endif
  }

  /// Creates a file under a name that nothing had.
  private static func openNamed(
    beside path: String
  ) throws(FileError) -> (Int32, String?) {
    var descriptor: Int32 = -1
    let name = try withUnusedName(beside: path) { name throws(FileError) in
      descriptor = unsafe open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw .last(at: path) }
    }
    return (descriptor, name)
  }

  /// Calls `body` with unpredictable names beside a path until it does not fail because something has the name.
  static func withUnusedName(
    beside path: String, _ body: (String) throws(FileError) -> Void
  ) throws(FileError) -> String {
    while true {
      let name = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 36)).partial"
      do throws(FileError) {
        try body(name)
        return name
      } catch {
        if error.kind != .exists { throw error }
      }
    }
  }
}
