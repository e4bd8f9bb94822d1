#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A POSIX lock on a byte range of a file. It belongs to the process, and is released when the process closes
/// *any* descriptor of the file.
public struct RecordLock: Hashable, Sendable {
  /// The process that holds the lock, which is not always known. A process id of another machine is useless.
  public let holder: Int32

  /// Whether no other process can lock the same bytes.
  public let isExclusive: Bool
}

extension OpenFile {
  /// Returns a lock that another process holds on any of `bytes`, or `nil` if there is none.
  ///
  /// This takes no lock. The corresponding C function is `fcntl` with `F_GETLK`.
  public borrowing func lockHeldElsewhere(on bytes: Range<Int64>) throws(FileError) -> RecordLock? {
    var request = flock()
    // Asking for an exclusive lock finds locks of both kinds.
    request.l_type = Int16(F_WRLCK)
    request.l_whence = Int16(SEEK_SET)
    request.l_start = off_t(bytes.lowerBound)
    request.l_len = off_t(bytes.count)
    guard unsafe fcntl(descriptor, F_GETLK, &request) == 0 else { throw .last(at: path) }
    guard Int32(request.l_type) != Int32(F_UNLCK) else { return nil }
    return RecordLock(
      holder: request.l_pid, isExclusive: Int32(request.l_type) == Int32(F_WRLCK))
  }

  /// Takes a shared lock on `bytes`, which is held until this process closes any descriptor of the
  /// file.
  ///
  /// - Returns: `false` if another process holds an exclusive lock on one of them.
  public borrowing func lockShared(_ bytes: Range<Int64>) throws(FileError) -> Bool {
    var request = flock()
    request.l_type = Int16(F_RDLCK)
    request.l_whence = Int16(SEEK_SET)
    request.l_start = off_t(bytes.lowerBound)
    request.l_len = off_t(bytes.count)
    if unsafe fcntl(descriptor, F_SETLK, &request) == 0 { return true }
    // POSIX allows either error for a lock that another process holds.
    guard errno == EACCES || errno == EAGAIN else { throw .last(at: path) }
    return false
  }

  /// Releases the locks of this process on `bytes`.
  public borrowing func unlock(_ bytes: Range<Int64>) throws(FileError) {
    var request = flock()
    request.l_type = Int16(F_UNLCK)
    request.l_whence = Int16(SEEK_SET)
    request.l_start = off_t(bytes.lowerBound)
    request.l_len = off_t(bytes.count)
    guard unsafe fcntl(descriptor, F_SETLK, &request) == 0 else { throw .last(at: path) }
  }
}
