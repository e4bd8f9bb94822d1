#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A file in a folder that this process has locked, so that no other process uses it.
///
/// The lock is released when the process ends, for any reason. Only its owner may read the file. The
/// corresponding C function is `flock`.
public struct HeldFile: ~Copyable {
  private let descriptor: Int32
  private let path: String

  /// The name of the file in its folder.
  public let name: String

  /// Creates a file for appending.
  ///
  /// - Throws: ``FileError``, also if the name exists, or if another process removed the file as left behind
  ///   before this process had locked it.
  public init(creating name: String, in directory: borrowing Directory) throws(FileError) {
    path = directory.path(of: name)
    self.name = name
    let flags = O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC
    descriptor = unsafe openat(directory.descriptor, name, flags, 0o600)
    guard descriptor >= 0 else { throw .last(at: path) }
    var status = stat()
    var failure: Int32 = 0
    // `flock` and not `fcntl`: its lock belongs to the open file, and does not end when the process
    // closes another descriptor.
    if unsafe flock(descriptor, LOCK_EX | LOCK_NB) != 0 || fstat(descriptor, &status) != 0 {
      failure = errno
    } else if status.st_nlink != 1 {
      // Another process removed the file as left behind before it was locked here.
      failure = ENOLCK
    }
    guard failure == 0 else {
      // On a file system without locks, no process would ever remove the file.
      _ = unsafe unlinkat(directory.descriptor, name, 0)
      close(descriptor)
      throw FileError(failure, at: path)
    }
  }

  /// Opens a file that a process has left behind.
  ///
  /// - Returns: `nil` if another process holds it, or if it was removed or belongs to another user.
  /// - Throws: ``FileError``, `symbolicLink` also if it is not a regular file.
  public init?(leftBehind name: String, in directory: borrowing Directory) throws(FileError) {
    path = directory.path(of: name)
    self.name = name
    let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    descriptor = unsafe openat(directory.descriptor, name, flags)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw .last(at: path)
    }
    var status = stat()
    let isHeld =
      unsafe flock(descriptor, LOCK_EX | LOCK_NB) == 0 && fstat(descriptor, &status) == 0
    guard isHeld, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      if isHeld { throw FileError(ELOOP, at: path) }
      return nil
    }
    // The previous holder may have removed the file before it released the lock.
    guard status.st_nlink == 1, status.st_uid == geteuid() else {
      close(descriptor)
      return nil
    }
  }

  deinit {
    close(descriptor)
  }

  /// Returns the status of the file.
  public borrowing func status() throws(FileError) -> FileStatus {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw .last(at: path) }
    return FileStatus(status)
  }

  /// Appends bytes.
  public borrowing func append(_ bytes: [UInt8]) throws(FileError) {
    try writeAll(bytes[...], to: descriptor, path: path)
  }

  /// Truncates the file. The corresponding C function is `ftruncate`.
  public borrowing func setLength(_ bytes: Int64) throws(FileError) {
    guard ftruncate(descriptor, off_t(bytes)) == 0 else { throw .last(at: path) }
  }

  /// Reads up to `count` bytes from `offset`; fewer at the end of the file.
  public borrowing func read(_ count: Int, at offset: Int64) throws(FileError) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: count)
    var all: [UInt8] = []
    while all.count < count {
      let read = try readSome(
        from: descriptor, count - all.count, at: offset + Int64(all.count), into: &buffer,
        path: path)
      if read == 0 { break }
      all += buffer[..<read]
    }
    return all
  }

  /// Waits until written data is on disk. The corresponding C function is `fdatasync`.
  public borrowing func synchronize() throws(FileError) {
    guard Files.synchronize(descriptor, .storedContent) else { throw .last(at: path) }
  }
}

extension Directory {
  /// Checks that only this user can create files in the folder.
  ///
  /// - Throws: ``FileError``, `accessDenied` if the folder belongs to another user, or others may write to it.
  public borrowing func requirePrivate() throws(FileError) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw .last(at: path) }
    // In a folder that others can write to, a file of this user's can be renamed, or a link put
    // into its place.
    guard status.st_uid == geteuid(), status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
      throw FileError(EPERM, at: path)
    }
  }
}
