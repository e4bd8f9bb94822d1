#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A file of a folder that this process holds, which no other process holds meanwhile.
///
/// The system lets go of it when the process ends, whatever ends it. Only its owner may read it. The
/// corresponding C function is `flock`.
public struct HeldFile: ~Copyable {
  private let descriptor: Int32
  private let path: String

  /// The name of the file in its folder.
  public let name: String

  /// Creates a file that is written at its end.
  ///
  /// - Throws: ``FileError``, also if something has the name, or if another process took the file for one
  ///   that was left behind, before this one held it.
  public init(creating name: String, in directory: borrowing Directory) throws(FileError) {
    path = directory.path(of: name)
    self.name = name
    let flags = O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC
    descriptor = unsafe openat(directory.descriptor, name, flags, 0o600)
    guard descriptor >= 0 else { throw .last(at: path) }
    var status = stat()
    var failure: Int32 = 0
    if unsafe flock(descriptor, LOCK_EX | LOCK_NB) != 0 || fstat(descriptor, &status) != 0 {
      failure = errno
    } else if status.st_nlink != 1 {
      failure = ENOLCK
    }
    guard failure == 0 else {
      // On a file system without locks it would be left behind for good.
      _ = unsafe unlinkat(directory.descriptor, name, 0)
      close(descriptor)
      throw FileError(failure, at: path)
    }
  }

  /// Opens a file that a process has left behind.
  ///
  /// - Returns: `nil` if another process holds it, or if it is gone, or another user's.
  /// - Throws: ``FileError``, `symbolicLink` also for what is no regular file.
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
    // Whoever held it may have removed it before letting go.
    guard status.st_nlink == 1, status.st_uid == geteuid() else {
      close(descriptor)
      return nil
    }
  }

  deinit {
    close(descriptor)
  }

  /// The status of the file.
  public borrowing func status() throws(FileError) -> FileStatus {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw .last(at: path) }
    return FileStatus(status)
  }

  /// Appends bytes.
  public borrowing func append(_ bytes: [UInt8]) throws(FileError) {
    try writeAll(bytes[...], to: descriptor, path: path)
  }

  /// Makes the file shorter. The corresponding C function is `ftruncate`.
  public borrowing func setLength(_ bytes: Int64) throws(FileError) {
    guard ftruncate(descriptor, off_t(bytes)) == 0 else { throw .last(at: path) }
  }

  /// Reads up to `count` bytes from `offset`; fewer if the file ends before.
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

  /// Waits until what was written is on the disk. The corresponding C function is `fdatasync`.
  public borrowing func synchronize() throws(FileError) {
    #if canImport(Darwin)
      let result = fsync(descriptor)
    #else
      let result = fdatasync(descriptor)
    #endif
    guard result == 0 else { throw .last(at: path) }
  }
}

extension Directory {
  /// Makes sure that only this user can make files in the folder.
  ///
  /// - Throws: ``FileError``, `accessDenied` for a folder of another user, or one that others may write to.
  public borrowing func requirePrivate() throws(FileError) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw .last(at: path) }
    guard status.st_uid == geteuid(), status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
      throw FileError(EPERM, at: path)
    }
  }
}

extension FileAccess {
  /// Whether what is at a path belongs to this user; a symbolic link is followed.
  public static func isOwn(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_uid == geteuid()
  }
}

extension CurrentProcess {
  /// The number of the process.
  public static var number: Int32 { getpid() }
}
