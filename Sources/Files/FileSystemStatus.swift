public import Bytes

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The free space and size of a file system.
public struct FileSystemStatus: Hashable, Sendable {
  /// The space that this user may still fill.
  public let availableBytes: ByteCount

  /// The size of the file system.
  public let totalBytes: ByteCount

  /// The number of the file system.
  public let device: UInt64

  /// Creates a status.
  public init(availableBytes: ByteCount, totalBytes: ByteCount, device: UInt64) {
    (self.availableBytes, self.totalBytes, self.device) = (availableBytes, totalBytes, device)
  }

  /// Whether files may be kept in it that memory has room for, too.
  ///
  /// A full file system needs the rest: SQLite writes to remove something.
  public var hasRoomForTemporaryFiles: Bool { availableBytes.bytes > 512 << 20 }

  /// Returns the status of a file's file system. The corresponding C function is `statvfs`.
  public static func of(_ path: String) throws(FileError) -> FileSystemStatus {
    var status = statvfs()
    var file = stat()
    guard unsafe statvfs(path, &status) == 0, unsafe stat(path, &file) == 0 else {
      throw .last(at: path)
    }
    let block = Int(clamping: status.f_frsize)
    return FileSystemStatus(
      // `f_bavail` and not `f_bfree`: the blocks that are reserved for the superuser are of no use
      // to others.
      availableBytes: ByteCount(status.f_bavail) * block,
      totalBytes: ByteCount(status.f_blocks) * block,
      device: UInt64(truncatingIfNeeded: file.st_dev))
  }
}

/// The space that a temporary database of this process takes on a file system while it is in use.
public final class TemporarySpace {
  /// Of each file system, by its number.
  private static let taken = Monitor<[UInt64: Int64]>([:])

  private let device: UInt64
  private var bytes: Int64 = 0

  /// Creates space of no bytes.
  ///
  /// - Parameter device: The number of the file system: ``FileSystemStatus/device``.
  public init(on device: UInt64) { self.device = device }

  deinit { set(0) }

  /// Returns how many bytes are free again on a file system when this process ends, besides those that already are.
  public static func bytes(on device: UInt64) -> ByteCount {
    taken.withLock { ByteCount($0[device] ?? 0) }
  }

  /// Counts the bytes of the database.
  public func set(_ size: Int64) {
    let growth = size - bytes
    bytes = size
    Self.taken.withLock { $0[device, default: 0] += growth }
  }
}
