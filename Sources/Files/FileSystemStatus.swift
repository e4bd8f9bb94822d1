public import Bytes

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// How much room a file system has.
public struct FileSystemStatus: Hashable, Sendable {
  /// What this user may still write.
  public let availableBytes: ByteCount

  /// The size of the file system.
  public let totalBytes: ByteCount

  /// Looks at the file system that a file is on. The corresponding C function is `statvfs`.
  public static func of(_ path: String) throws(FileError) -> FileSystemStatus {
    var status = statvfs()
    guard unsafe statvfs(path, &status) == 0 else { throw .last(at: path) }
    let block = Int(clamping: status.f_frsize)
    return FileSystemStatus(
      availableBytes: ByteCount(status.f_bavail) * block,
      totalBytes: ByteCount(status.f_blocks) * block)
  }
}
