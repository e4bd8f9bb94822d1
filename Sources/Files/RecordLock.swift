#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A lock on some bytes of a file, as POSIX defines it: it belongs to the process, and goes when the
/// process closes *any* descriptor of the file.
public struct RecordLock: Hashable, Sendable {
  /// The process that holds the lock; not always known, and of no meaning on another machine.
  public let holder: Int32

  /// Whether nobody else may hold a lock on the same bytes.
  public let isExclusive: Bool
}

extension OpenFile {
  /// Returns a lock that another process holds on any of `bytes`, or `nil` if there is none.
  ///
  /// Nothing is locked by asking. The corresponding C function is `fcntl` with `F_GETLK`.
  public borrowing func lockHeldElsewhere(on bytes: Range<Int64>) throws(FileError) -> RecordLock? {
    var request = flock()
    request.l_type = Int16(F_WRLCK)
    request.l_whence = Int16(SEEK_SET)
    request.l_start = off_t(bytes.lowerBound)
    request.l_len = off_t(bytes.count)
    guard unsafe fcntl(descriptor, F_GETLK, &request) == 0 else { throw .last(at: path) }
    guard Int32(request.l_type) != Int32(F_UNLCK) else { return nil }
    return RecordLock(
      holder: request.l_pid, isExclusive: Int32(request.l_type) == Int32(F_WRLCK))
  }

  /// Takes a shared lock on `bytes`, which lasts until this process closes any descriptor of the
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
    guard errno == EACCES || errno == EAGAIN else { throw .last(at: path) }
    return false
  }
}
