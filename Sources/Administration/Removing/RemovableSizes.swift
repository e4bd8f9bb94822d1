import Bytes

/// The sizes of the entries that a plan may remove, added up.
struct RemovableSizes {
  /// The number of entries that count for limits.
  private(set) var entries: Int64 = 0
  /// Their bodies, in bytes.
  private(set) var bodyBytes: ByteCount = 0
  /// Their files, in bytes.
  private(set) var fileBytes: ByteCount = 0
  /// Their bodies inside the database, in bytes.
  private(set) var inlineBytes: ByteCount = 0
  /// What these bodies occupy in pages of their own, in bytes.
  private(set) var ownPageBytes: ByteCount = 0
  /// The number of files that a crash left; they count for no limit.
  private(set) var leftovers: Int64 = 0
  /// The length of these files, in bytes.
  private(set) var leftoverBytes: ByteCount = 0
  /// The size of a database page, in bytes.
  private let pageBytes: ByteCount

  init(pageBytes: ByteCount) { self.pageBytes = pageBytes }

  /// Adds an entry.
  mutating func insert(_ entry: RemovalPlan.Entry) {
    let size = entry.size ?? 0
    entries += 1
    bodyBytes += size
    fileBytes += entry.returnedBytes
    guard !entry.hasBodyFile else { return }
    inlineBytes += size
    // A long value fills overflow pages of its own; only its first and last page may be shared.
    ownPageBytes += max(0, size - pageBytes * 2)
  }

  /// Adds a file that a crash left.
  mutating func insertLeftover(_ size: ByteCount) {
    leftovers += 1
    leftoverBytes += size
  }
}
