public import Bytes

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The metadata of a file.
public struct FileStatus: Hashable, Sendable {
  /// The kinds of file.
  public enum Kind: String, Hashable, Sendable {
    case regular = "a regular file"
    case directory = "a folder"
    case symbolicLink = "a symbolic link"
    case fifo = "a named pipe"
    case socket = "a socket"
    case device = "a device"
    case unknown = "a file of an unknown kind"
  }

  /// The kind of file.
  public let kind: Kind

  /// The length.
  public let size: ByteCount

  /// The space that the file system allocates for the file.
  public let allocatedSize: ByteCount

  /// The number of hard links to the file.
  public let linkCount: UInt64

  /// The device and inode, which together identify the file.
  public let identity: [UInt64]

  /// The number of the user that it belongs to.
  public let owner: UInt32

  /// Whether others than the owner and the group may write to it.
  public let isWritableByOthers: Bool

  /// Whether its group may write to it, unless that is the group of root.
  public let isWritableByGroup: Bool

  /// Whether only the owner of a file in the folder may rename or remove it.
  public let isSticky: Bool

  /// Whether others than the owner and the group may read the file.
  public let isReadableByOthers: Bool

  /// Whether others than the owner and the group may enter the folder.
  public let canBeEnteredByOthers: Bool

  /// When the bytes last changed, in nanoseconds since 1970; wraps in the year 2262.
  public let modified: Int64

  init(_ status: stat) {
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .regular
      case S_IFDIR: .directory
      case S_IFLNK: .symbolicLink
      case S_IFIFO: .fifo
      case S_IFSOCK: .socket
      case S_IFBLK, S_IFCHR: .device
      default: .unknown
      }
    size = ByteCount(status.st_size)
    // On Linux and macOS, `st_blocks` counts units of 512 bytes, whatever the block size.
    allocatedSize = ByteCount(status.st_blocks) * 512
    linkCount = UInt64(status.st_nlink)
    owner = status.st_uid
    isWritableByOthers = status.st_mode & S_IWOTH != 0
    isWritableByGroup = status.st_mode & S_IWGRP != 0 && status.st_gid != 0
    isSticky = status.st_mode & S_ISVTX != 0
    isReadableByOthers = status.st_mode & S_IROTH != 0
    canBeEnteredByOthers = status.st_mode & S_IXOTH != 0
    identity = [UInt64(truncatingIfNeeded: status.st_dev), UInt64(status.st_ino)]
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    // Wrapping, as a file can have any time, and a trap on one would let its owner stop a search.
    modified = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }

  /// Returns the status of the file at `path`. A symbolic link is not followed.
  ///
  /// The corresponding C function is `lstat`.
  public static func of(_ path: String) throws(FileError) -> FileStatus {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { throw .last(at: path) }
    return FileStatus(status)
  }
}
