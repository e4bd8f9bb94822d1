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

/// A folder that is open, and is closed when its owner goes away.
///
/// Files are looked up by name in the folder that was opened, whatever happens to its path.
public struct Directory: ~Copyable {
  let descriptor: Int32

  /// The path that the folder was opened by.
  public let path: String

  /// Opens a folder.
  ///
  /// - Parameter followingLink: Whether `path` may be a symbolic link to a folder; otherwise one is
  ///   refused.
  public init(_ path: String, followingLink: Bool = false) throws(FileError) {
    let link = followingLink ? 0 : O_NOFOLLOW
    let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | link)
    guard descriptor >= 0 else { throw .last(at: path) }
    self.descriptor = descriptor
    self.path = path
  }

  /// Opens a folder of a folder. A symbolic link is refused.
  ///
  /// - Parameter name: The name of the folder, which must not hold a slash.
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

  /// Creates a folder, which only its owner may look into.
  public static func create(_ path: String) throws(FileError) {
    guard unsafe mkdir(path, 0o700) == 0 else { throw .last(at: path) }
  }

  /// Creates a folder, and the folders above it, unless they are there.
  ///
  /// - Parameter isPrivate: Whether only their owner may look into the new folders, and not everybody whom the
  ///   mask of the process lets.
  public static func createWithParents(
    _ path: String, isPrivate: Bool = true
  ) throws(FileError) {
    let permissions: mode_t = isPrivate ? 0o700 : 0o777
    if unsafe mkdir(path, permissions) == 0 || errno == EEXIST { return }
    let error = FileError.last(at: path)
    guard error.kind == .notFound, let parent = parent(of: path) else { throw error }
    try createWithParents(parent, isPrivate: isPrivate)
    guard unsafe mkdir(path, permissions) == 0 || errno == EEXIST else { throw .last(at: path) }
  }

  /// Creates the folders that the path of a file needs; others may look into them as far as the mask of the
  /// process lets them.
  public static func createParents(of path: String) throws(FileError) {
    if let folder = parent(of: path) { try createWithParents(folder, isPrivate: false) }
  }

  /// The folder that a path is in; `nil` if the path does not name one.
  public static func parent(of path: String) -> String? {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else {
      return nil
    }
    return String(path[..<slash])
  }

  /// Removes a folder if it is empty; a symbolic link is not followed. The corresponding C function is
  /// `rmdir`.
  public static func removeEmpty(_ path: String) throws(FileError) {
    guard unsafe rmdir(path) == 0 else { throw .last(at: path) }
  }

  /// The path of a file of the folder.
  public borrowing func path(of name: String) -> String {
    path.utf8.last == UInt8(ascii: "/") ? path + name : "\(path)/\(name)"
  }

  /// Returns the status of the folder itself.
  public borrowing func status() throws(FileError) -> FileStatus {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw .last(at: path) }
    return FileStatus(status)
  }

  /// Returns the status of a file of the folder; a symbolic link is not followed.
  public borrowing func status(of name: String) throws(FileError) -> FileStatus {
    var status = stat()
    guard unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      throw .last(at: path(of: name))
    }
    return FileStatus(status)
  }

  /// Whether the file system that the folder is on keeps anything on a medium, as far as it says; those
  /// by which a kernel shows its state do not (`/proc` and `/sys` on Linux).
  ///
  /// The corresponding C function is `fstatvfs`.
  public borrowing func isOnMedium() -> Bool {
    var status = statvfs()
    return unsafe fstatvfs(descriptor, &status) != 0 || status.f_blocks > 0
  }

  /// Removes a file of the folder. The corresponding C function is `unlinkat`.
  public borrowing func remove(_ name: String) throws(FileError) {
    guard unsafe unlinkat(descriptor, name, 0) == 0 else { throw .last(at: path(of: name)) }
  }

  /// Removes a file of the folder by the bytes of its name, which need not be UTF-8.
  ///
  /// The corresponding C function is `unlinkat`, which removes no folder and follows no link.
  public borrowing func remove(_ name: [UInt8]) throws(FileError) {
    guard unsafe unlinkat(descriptor, Self.cString(name), 0) == 0 else {
      throw .last(at: path(of: String(decoding: name, as: UTF8.self)))
    }
  }

  /// Gives a file of the folder another name, by which nothing else is called from then on.
  ///
  /// The corresponding C function is `renameat`, which lets nobody see neither of the two.
  public borrowing func rename(_ name: [UInt8], to other: [UInt8]) throws(FileError) {
    guard
      unsafe renameat(descriptor, Self.cString(name), descriptor, Self.cString(other)) == 0
    else { throw .last(at: path(of: String(decoding: other, as: UTF8.self))) }
  }

  /// Waits until the names of the folder are on the disk, those that came and those that went.
  ///
  /// A file system that has no way to do that is no error. The corresponding C function is `fsync`.
  public borrowing func synchronize() throws(FileError) {
    guard fsync(descriptor) != 0 else { return }
    if errno != EINVAL { throw .last(at: path) }
  }

  /// Waits until all that was written to the file system of the folder is on the disk, whoever wrote it:
  /// for many files that is faster than to wait for each.
  ///
  /// The corresponding C function is `syncfs`, which tells of failures since Linux 5.8.
  ///
  /// - Returns: `false` if the system has no way to do that.
  public borrowing func synchronizeFileSystem() throws(FileError) -> Bool {
    #if os(Linux)
      guard syncfs(descriptor) == 0 else { throw .last(at: path) }
      return true
    #else
      return false
    #endif
  }

  /// Returns the status of a file of the folder by the bytes of its name, which need not be UTF-8; a
  /// symbolic link is not followed.
  public borrowing func status(of name: [UInt8]) throws(FileError) -> FileStatus {
    var status = stat()
    guard unsafe fstatat(descriptor, Self.cString(name), &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      throw .last(at: path(of: String(decoding: name, as: UTF8.self)))
    }
    return FileStatus(status)
  }

  /// The bytes of a name as C takes them.
  static func cString(_ name: [UInt8]) -> [CChar] {
    name.map { CChar(bitPattern: $0) } + [0]
  }

  /// Returns the path without symbolic links, `.` and `..`; `nil` if there is nothing at it.
  ///
  /// The corresponding C function is `realpath`.
  public static func resolvedPath(_ path: String) -> String? {
    guard let resolved = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }

  /// Calls `body` with the name of each file, in no order, but for `.` and `..`.
  ///
  /// - Parameter body: What to do with the bytes of a name, which need not be UTF-8.
  public borrowing func forEachName(_ body: ([UInt8]) throws -> Void) throws {
    // `fdopendir` takes its descriptor over, and reading moves its offset: it gets one of its own.
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
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe Array(bytes.prefix { $0 != 0 })
      }
      if name != [46] && name != [46, 46] { try body(name) }
    }
  }
}
