import Bytes
import ResponseStorage

/// The sizes of the entries that a plan may remove, added up.
struct RemovableSizes {
  /// The number of entries that count for limits.
  private(set) var entries: Int64 = 0
  /// Their bodies, in bytes.
  private(set) var bodyBytes: ByteCount = 0
  /// The space that they take.
  private(set) var space = SpaceInUse()

  /// Adds an entry.
  mutating func insert(_ entry: RemovalPlan.Entry) {
    entries += 1
    bodyBytes += entry.size ?? 0
    space.insert(entry.share)
  }
}
