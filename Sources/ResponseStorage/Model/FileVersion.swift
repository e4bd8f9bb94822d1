public import Bytes

/// The state of a regular file when it was read.
///
/// It distinguishes the file from one that has replaced it since.
public struct FileVersion: Hashable, Sendable {
  /// The inode of the file. Foundation never writes into an existing file, so a replacement has another
  /// inode.
  public var number: UInt64

  /// When the bytes last changed, in nanoseconds since 1970; wraps in the year 2262.
  public var modified: Int64

  /// The length, which `URLCache` counts.
  public var size: ByteCount

  /// Creates a version.
  public init(number: UInt64, modified: Int64, size: ByteCount) {
    self.number = number
    self.modified = modified
    self.size = size
  }

  /// How long a file that no entry refers to is kept for the process that may be writing it, in seconds.
  /// CFNetwork needs less than one.
  // Ten minutes are far more than an app needs between writing a file and storing its row, and an
  // orphan that is kept for that long does no harm.
  public static let youth = 600.0

  /// Whether another process may still be writing the file.
  public func isYoung(at now: Timestamp) -> Bool { Self.isYoung(modified: modified, at: now) }

  /// Whether another process may still be writing a file that was modified at `modified`, in nanoseconds
  /// since 1970.
  static func isYoung(modified: Int64, at now: Timestamp) -> Bool {
    AgeLimit(youth, at: now).isNotReached(by: Timestamp(nanosecondsSince1970: modified))
  }

  /// Whether it may be the same file with another inode, as in a copy of the folder.
  public func isLike(_ other: FileVersion) -> Bool {
    // A plan can be applied to a copy of a folder, in which each file has another inode. A copy
    // that does not keep the times of its files is refused by this.
    modified == other.modified && size == other.size
  }
}
