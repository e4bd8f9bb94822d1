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

/// An open folder, which is closed when its owner is destroyed.
///
/// Files are looked up in the open folder, even if its path leads elsewhere meanwhile.
public struct Directory: ~Copyable, Sendable {
  let descriptor: Int32

  /// The path with which the folder was opened.
  public let path: String

  /// Takes over a descriptor.
  init(descriptor: Int32, path: String) {
    (self.descriptor, self.path) = (descriptor, path)
  }

  /// Opens a folder.
  ///
  /// - Parameter followingLink: Whether `path` may be a symbolic link to a folder; otherwise a link is an
  ///   error.
  public init(_ path: String, followingLink: Bool = false) throws(FileError) {
    let link = followingLink ? 0 : O_NOFOLLOW
    let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | link)
    guard descriptor >= 0 else { throw .last(at: path) }
    self.descriptor = descriptor
    self.path = path
  }

  /// Opens a subfolder. A symbolic link is an error.
  ///
  /// - Parameter name: The name of the folder, which must not contain a slash.
  public init(_ name: String, in directory: borrowing Directory) throws(FileError) {
    let path = directory.path(of: name)
    let descriptor = unsafe openat(
      directory.descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { throw .last(at: path) }
    self.descriptor = descriptor
    self.path = path
  }

  deinit {
    close(descriptor)
  }

  /// Creates a folder that only its owner can access.
  public static func create(_ path: String) throws(FileError) {
    guard unsafe mkdir(path, 0o700) == 0 else { throw .last(at: path) }
  }

  /// Creates a folder that only another user can access, in a folder of root; there may be one already.
  public static func create(
    _ path: String, forUser user: UInt32, _ group: UInt32
  ) throws(FileError) {
    guard let parent = parent(of: path) else { throw FileError(EINVAL, at: path) }
    try createWithParents(parent, isPrivate: false)
    if let other = try PathOwners.firstNotOnlyOfRoot(parent) {
      throw .changeableByOthers(at: other.path)
    }
    // The umask may keep others from entering what was just created.
    for folder in [parent, Directory.parent(of: parent)] {
      guard let folder else { continue }
      var status = stat()
      if unsafe stat(folder, &status) == 0, status.st_mode & S_IXOTH == 0 {
        guard unsafe chmod(folder, status.st_mode & 0o777 | 0o111) == 0 else {
          throw .last(at: folder)
        }
      }
    }
    guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .last(at: path) }
    let folder = try Directory(path)
    guard fchown(folder.descriptor, user, group) == 0 else { throw .last(at: path) }
  }

  /// Creates a folder and its parents, as far as they do not exist.
  ///
  /// - Parameter isPrivate: Whether only their owner can access the new folders; otherwise the umask of the
  ///   process decides.
  public static func createWithParents(
    _ path: String, isPrivate: Bool = true
  ) throws(FileError) {
    let permissions: mode_t = isPrivate ? 0o700 : 0o777
    // Tried before its parents: mostly the folder is there, and this takes a single call.
    if unsafe mkdir(path, permissions) == 0 || errno == EEXIST { return }
    let error = FileError.last(at: path)
    guard error.kind == .notFound, let parent = parent(of: path) else { throw error }
    try createWithParents(parent, isPrivate: isPrivate)
    // Another process may have created the folder meanwhile.
    guard unsafe mkdir(path, permissions) == 0 || errno == EEXIST else { throw .last(at: path) }
  }

  /// Creates the missing parent folders of a file; the umask of the process decides who can access them.
  public static func createParents(of path: String) throws(FileError) {
    if let folder = parent(of: path) { try createWithParents(folder, isPrivate: false) }
  }

  /// Returns the parent folder of a path; `nil` if the path has none.
  public static func parent(of path: String) -> String? {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else {
      return nil
    }
    return String(path[..<slash])
  }

  /// Removes a folder if it is empty. A symbolic link is not followed. The corresponding C function is
  /// `rmdir`.
  public static func removeEmpty(_ path: String) throws(FileError) {
    guard unsafe rmdir(path) == 0 else { throw .last(at: path) }
  }

  /// Returns the path of a file in the folder.
  public borrowing func path(of name: String) -> String {
    path.utf8.last == UInt8(ascii: "/") ? path + name : "\(path)/\(name)"
  }

  /// Returns the status of the folder itself.
  public borrowing func status() throws(FileError) -> FileStatus {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw .last(at: path) }
    return FileStatus(status)
  }

  /// Returns the status of a file in the folder. A symbolic link is not followed.
  public borrowing func status(of name: String) throws(FileError) -> FileStatus {
    var status = stat()
    guard unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      throw .last(at: path(of: name))
    }
    return FileStatus(status)
  }

  /// Whether the file system of the folder stores data on a device. Those in which a kernel shows its state
  /// report that they do not (`/proc` and `/sys` on Linux).
  ///
  /// The corresponding C function is `fstatvfs`.
  public borrowing func isOnMedium() -> Bool {
    var status = statvfs()
    return unsafe fstatvfs(descriptor, &status) != 0 || status.f_blocks > 0
  }

  /// Removes a file in the folder. The corresponding C function is `unlinkat`.
  public borrowing func remove(_ name: String) throws(FileError) {
    guard unsafe unlinkat(descriptor, name, 0) == 0 else { throw .last(at: path(of: name)) }
  }

  /// Removes a file in the folder; its name need not be UTF-8.
  ///
  /// The corresponding C function is `unlinkat`, which removes no folder and follows no link.
  public borrowing func remove(_ name: [UInt8]) throws(FileError) {
    guard unsafe unlinkat(descriptor, Self.cString(name), 0) == 0 else {
      throw .last(at: path(of: String(decoding: name, as: UTF8.self)))
    }
  }

  /// Renames a file in the folder, replacing any file with the new name.
  ///
  /// The corresponding C function is `renameat`, which is atomic: at any time, one of the two names exists.
  public borrowing func rename(_ name: [UInt8], to other: [UInt8]) throws(FileError) {
    guard
      unsafe renameat(descriptor, Self.cString(name), descriptor, Self.cString(other)) == 0
    else { throw .last(at: path(of: String(decoding: other, as: UTF8.self))) }
  }

  /// Returns a folder in this folder, which is created if there is nothing of that name; the umask decides who can
  /// access it. A symbolic link is not followed. The corresponding C function is `mkdirat`.
  public borrowing func createdFolder(_ name: String) throws(FileError) -> Directory {
    guard unsafe mkdirat(descriptor, name, 0o777) == 0 || errno == EEXIST else {
      throw .last(at: path(of: name))
    }
    return try Directory(name, in: self)
  }

  /// Gives a file of the folder another name in a folder.
  ///
  /// - Throws: ``FileError``, `exists` if there is a file with that name. The corresponding C function is `linkat`.
  public borrowing func link(
    _ name: [UInt8], to other: [UInt8], in folder: borrowing Directory
  ) throws(FileError) {
    guard
      unsafe linkat(descriptor, Self.cString(name), folder.descriptor, Self.cString(other), 0) == 0
    else { throw .last(at: folder.path(of: String(decoding: other, as: UTF8.self))) }
  }

  /// Locks the folder, for as long as it is open, against other processes that lock it.
  ///
  /// - Throws: ``FileError``, `busy` if another process has locked it. The corresponding C function is `flock`.
  public borrowing func lock() throws(FileError) {
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw .last(at: path) }
  }

  /// Waits until the entries of the folder, added and removed ones, are on disk.
  ///
  /// A file system that does not support that is not an error. The corresponding C function is `fsync`.
  public borrowing func synchronize() throws(FileError) {
    // EINVAL is how a file system says that it has no such thing for folders; some network file
    // systems do.
    guard !Files.synchronize(descriptor, .stored), errno != EINVAL else { return }
    throw .last(at: path)
  }

  /// Waits until all data written to the folder's file system, by any process, is on disk. For many files,
  /// this is faster than waiting for each.
  ///
  /// The corresponding C function is `syncfs`, which reports failures since Linux 5.8.
  ///
  /// - Returns: `false` if the system does not support that.
  public borrowing func synchronizeFileSystem() throws(FileError) -> Bool {
    #if os(Linux)
      // macOS has only `sync`, which returns before the data is on disk.
      guard syncfs(descriptor) == 0 else { throw .last(at: path) }
      return true
    #else
      return false
    #endif
  }

  /// Returns the status of a file in the folder; its name need not be UTF-8. A symbolic link is not
  /// followed.
  public borrowing func status(of name: [UInt8]) throws(FileError) -> FileStatus {
    var status = stat()
    guard unsafe fstatat(descriptor, Self.cString(name), &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      throw .last(at: path(of: String(decoding: name, as: UTF8.self)))
    }
    return FileStatus(status)
  }

  /// Returns a name as a C string.
  static func cString(_ name: [UInt8]) -> [CChar] {
    name.map { CChar(bitPattern: $0) } + [0]
  }

  /// Returns the path without symbolic links, `.` and `..`; `nil` if it does not exist.
  ///
  /// The corresponding C function is `realpath`.
  public static func resolvedPath(_ path: String) -> String? {
    guard let resolved = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }

  /// Calls `body` with the name of each file except `.` and `..`, in no particular order.
  ///
  /// - Parameter body: Processes the bytes of a name, which need not be UTF-8.
  public borrowing func forEachName(_ body: ([UInt8]) throws -> Void) throws {
    try forEachEntry { name, _ in try body(name) }
  }

  /// Calls `body` with the name of each file except `.` and `..`, in no particular order, and with its kind; `nil` if the
  /// file system does not say that in a list.
  public borrowing func forEachEntry(
    _ body: ([UInt8], FileStatus.Kind?) throws -> Void
  ) throws {
    // `fdopendir` takes over its descriptor, and reading moves its offset, so it gets a new one.
    let own = unsafe openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard own >= 0 else { throw FileError.last(at: path) }
    guard let stream = unsafe fdopendir(own) else {
      let error = FileError.last(at: path)
      close(own)
      throw error
    }
    defer { unsafe closedir(stream) }
    while true {
      errno = 0
      guard let entry = unsafe readdir(stream) else {
        guard errno == 0 else { throw FileError.last(at: path) }
        return
      }
      // As bytes: a file name on Linux is any bytes but `/` and NUL, and a `String` would repair it
      // to the name of no file.
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe Array(bytes.prefix { $0 != 0 })
      }
      if name == [46] || name == [46, 46] { continue }
      let kind: FileStatus.Kind? =
        switch unsafe Int(entry.pointee.d_type) {
        case Int(DT_REG): .regular
        case Int(DT_DIR): .directory
        case Int(DT_LNK): .symbolicLink
        case Int(DT_FIFO): .fifo
        case Int(DT_SOCK): .socket
        case Int(DT_BLK), Int(DT_CHR): .device
        default: nil
        }
      try body(name, kind)
    }
  }
}

/// Returns an absolute path to the same file, or `path` itself if the working folder is unknown.
///
/// Symbolic links are not resolved. The corresponding C function is `getcwd`.
public func absolutePath(_ path: String) -> String {
  guard path.utf8.first != UInt8(ascii: "/") else { return path }
  let folder: String? = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4_096) {
    guard let start = unsafe getcwd($0.baseAddress, $0.count) else { return nil }
    return unsafe String(validatingCString: start)
  }
  return folder.map { $0.utf8.last == UInt8(ascii: "/") ? $0 + path : "\($0)/\(path)" } ?? path
}

/// What happens in some folders, as the system reports it.
///
/// Only Linux reports names (`inotify`). Elsewhere, and where the system has no more room for it, there is no such
/// object, and the folders have to be looked at from time to time.
public final class FolderEvents {
  /// An event in one of the folders.
  public enum Event: Hashable, Sendable {
    /// A file was renamed to this name.
    case renamed([UInt8])
    /// A file with this name, which may be a new one, was closed after writing.
    case written([UInt8])
    /// A file was removed, or renamed to another name.
    case disappeared([UInt8])
    /// There were more events than the system keeps.
    case lost
  }

  private let descriptor: Int32

  /// Begins to collect what happens in folders; `nil` if the system cannot do that for all of them.
  public init?(of paths: [String]) {
    #if canImport(Glibc)
      // The two flags of `inotify_init1` have the values of these by definition.
      descriptor = inotify_init1(O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      let wanted = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE
      for path in paths {
        guard unsafe inotify_add_watch(descriptor, path, UInt32(wanted)) >= 0 else { return nil }
      }
    #else
      return nil
    #endif
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Waits until there are events, but not longer than this.
  public func wait(milliseconds: Int) {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    _ = unsafe poll(&request, 1, Int32(clamping: milliseconds))
  }

  /// Returns the events since the last call.
  public func read() -> [Event] {
    var events: [Event] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    // Without events, reading fails with `EAGAIN`.
    while let count = try? readSome(from: descriptor, into: &buffer, path: "inotify"), count > 0 {
      Self.append(buffer[..<count], to: &events)
    }
    return events
  }

  /// Parses a sequence of `struct inotify_event`: four numbers of 32 bits, the last of which is the length of the name
  /// that follows, padded with zeros.
  static func append(_ bytes: ArraySlice<UInt8>, to events: inout [Event]) {
    #if canImport(Glibc)
      var rest = bytes
      while rest.count >= 16 {
        let mask = Int32(truncatingIfNeeded: number(at: 4, in: rest))
        let length = Int(number(at: 12, in: rest))
        let name = Array(rest.dropFirst(16).prefix(length).prefix { $0 != 0 })
        if mask & IN_Q_OVERFLOW != 0 { events.append(.lost) }
        if mask & IN_MOVED_TO != 0 { events.append(.renamed(name)) }
        if mask & IN_CLOSE_WRITE != 0 { events.append(.written(name)) }
        if mask & (IN_DELETE | IN_MOVED_FROM) != 0 { events.append(.disappeared(name)) }
        rest = rest.dropFirst(16 + length)
      }
    #endif
  }

  /// Returns a number of 32 bits in the byte order of the processor, which is little-endian wherever this runs.
  private static func number(at offset: Int, in bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.dropFirst(offset).prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}
