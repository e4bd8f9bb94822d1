#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// How much room a file system has.
public struct FileSystemStatus: Hashable, Sendable {
  /// What this user may still write, in bytes.
  public let availableBytes: Int64

  /// The size of the file system, in bytes.
  public let totalBytes: Int64

  /// Looks at the file system that a file is on. The corresponding C function is `statvfs`.
  public static func of(_ path: String) throws(FileError) -> FileSystemStatus {
    var status = statvfs()
    guard unsafe statvfs(path, &status) == 0 else { throw .last(at: path) }
    let block = UInt64(status.f_frsize)
    return FileSystemStatus(
      availableBytes: Int64(clamping: UInt64(status.f_bavail).multipliedClamped(by: block)),
      totalBytes: Int64(clamping: UInt64(status.f_blocks).multipliedClamped(by: block)))
  }
}

extension UInt64 {
  fileprivate func multipliedClamped(by other: UInt64) -> UInt64 {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? .max : product
  }
}
