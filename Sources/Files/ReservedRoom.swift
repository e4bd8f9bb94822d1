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
