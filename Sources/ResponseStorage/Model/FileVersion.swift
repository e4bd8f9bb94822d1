public import Bytes

/// The regular file that a store keeps a whole response in, as it was when it was looked at.
///
/// It tells the file from another one that has come to have its name since.
public struct FileVersion: Hashable, Sendable {
  /// The number of the file on its file system. Foundation never writes into a file: one that replaces
  /// another has a number of its own.
  public var number: UInt64

  /// When the bytes last changed, in nanoseconds since 1970; wraps in the year 2262.
  public var modified: Int64

  /// The length, which is what `URLCache` counts.
  public var size: ByteCount

  /// Creates a version.
  public init(number: UInt64, modified: Int64, size: ByteCount) {
    self.number = number
    self.modified = modified
    self.size = size
  }

  /// How long a file that nothing names yet is left to whoever may be writing it, in seconds. CFNetwork
  /// needs less than one.
  private static let youth = 600.0

  /// Whether somebody may still be writing the file.
  public func isYoung(at now: Timestamp) -> Bool { Self.isYoung(modified: modified, at: now) }

  /// Whether somebody may still be writing a file that was last written to at `modified`, in nanoseconds
  /// since 1970.
  static func isYoung(modified: Int64, at now: Timestamp) -> Bool {
    AgeLimit(youth, at: now).isNotReached(by: Timestamp(nanosecondsSince1970: modified))
  }

  /// Whether it may be the same file although the number is another, as in a copy of the folder.
  public func isLike(_ other: FileVersion) -> Bool {
    modified == other.modified && size == other.size
  }
}
