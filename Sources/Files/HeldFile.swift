import Bytes

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

extension OpenFile {
  /// Reserves room on disk for bytes that will be appended; the length of the file does not change.
  ///
  /// Nothing is reserved for pipes and terminals, or on file systems that cannot. The corresponding C functions are
  /// `fallocate` with `FALLOC_FL_KEEP_SIZE`, and on macOS `fcntl` with `F_PREALLOCATE`.
  ///
  /// - Throws: ``FileError`` of the kind `noRoom` if there is no room.
  public borrowing func reserveRoom(_ bytes: Int64) throws(FileError) {
    try allocateRoom(bytes, in: descriptor, path: path)
  }

  /// Appends a line to a log that several processes write, and gives back the room that was reserved for it and is not
  /// needed: otherwise each run would leave some.
  public borrowing func appendLine(_ line: [UInt8]) throws(FileError) {
    guard (try? status())?.kind == .regular else { return try write(line) }
    // Only this lock makes it certain that no other process appends a line between the measuring and the cutting.
    var isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0
    for _ in 0..<100 where !isLocked && errno == EWOULDBLOCK {
      // Others hold it for a moment. Who holds it for longer than a second is another program.
      usleep(10_000)
      isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }
    defer { if isLocked { _ = flock(descriptor, LOCK_UN) } }
    let start = try isLocked ? status().size.bytes : nil
    do throws(FileError) { try write(line) } catch {
      // The part of a line would make the next one unreadable, too.
      if let start { _ = ftruncate(descriptor, off_t(start)) }
      throw error
    }
    // Room that stays reserved is no failure, as the line is written.
    if isLocked, let end = try? status().size.bytes { _ = ftruncate(descriptor, off_t(end)) }
  }
}

extension TemporaryFile {
  /// Reserves room on disk, until the file is closed, for another file in the same folder; as
  /// ``OpenFile/reserveRoom(_:)`` does.
  ///
  /// - Throws: ``FileError`` of the kind `noRoom` if there is no room.
  public borrowing func reserveRoom(_ bytes: Int64) throws(FileError) {
    try allocateRoom(bytes, in: descriptor, path: folder)
  }
}

/// Allocates room for bytes after the end of a file.
private func allocateRoom(_ bytes: Int64, in descriptor: Int32, path: String) throws(FileError) {
  var status = stat()
  guard unsafe fstat(descriptor, &status) == 0, FileStatus(status).kind == .regular else { return }
  #if canImport(Darwin)
    var request = fstore_t(
      fst_flags: UInt32(F_ALLOCATEALL), fst_posmode: F_PEOFPOSMODE, fst_offset: 0,
      fst_length: off_t(bytes), fst_bytesalloc: 0)
    let isDone = unsafe fcntl(descriptor, F_PREALLOCATE, &request) == 0
  #else
    var result: Int32
    repeat {
      result = cfiles_allocate(descriptor, Int64(status.st_size), bytes)
    } while result != 0 && errno == EINTR
    let isDone = result == 0
  #endif
  guard !isDone else { return }
  let error = FileError.last(at: path)
  // Any other error means that the file system cannot reserve room. The writing will show whether there is some.
  if error.kind == .noRoom { throw error }
}
