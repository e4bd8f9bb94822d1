public import Bytes
import Files

/// The space that the long lists of this process take on file systems while they are in use.
public enum SpoolSpace {
  /// Of each file system, by its number.
  private static let taken = Monitor<[UInt64: Int64]>([:])

  /// A file takes whole blocks. Most file systems have blocks of 4 KiB.
  private static let block: Int64 = 4_096

  /// Returns how many bytes are free again on a file system when this process ends, besides those that already are.
  ///
  /// - Parameter device: The number of the file system: ``FileSystemStatus/device``.
  public static func bytes(on device: UInt64) -> ByteCount {
    taken.withLock { ByteCount($0[device] ?? 0) }
  }

  /// Counts that a file has grown, or is gone.
  static func change(from before: Int64, to after: Int64, on device: UInt64) {
    let blocks = [before, after].map { ($0 + block - 1) / block * block }
    taken.withLock { $0[device, default: 0] += blocks[1] - blocks[0] }
  }
}
