import Bytes
import ResponseStorage

/// How small a cache can become, as far as that is known in advance, if everything that a plan may remove is removed.
///
/// What a database frees is only known afterwards. These are bounds that hold however its pages are filled.
struct LimitReach {
  /// The lower bound of the size on disk, in bytes.
  var leastBytes: ByteCount
  /// The upper bound of the size on disk once everything is removed, in bytes; `nil` if unknown.
  var mostBytes: ByteCount?
  /// The number of entries that are kept.
  var leastEntries: Int64
  /// The upper bound of the freed space, in bytes.
  var mostFreed: ByteCount
  /// The lower bound of the freed space, in bytes; `nil` if unknown.
  var leastFreed: ByteCount?

  /// Calculates the bounds.
  ///
  /// - Parameters:
  ///   - plan: A plan with the orphans to remove, and the footprint.
  ///   - removable: The entries that may be removed.
  init(of plan: RemovalPlan, removing removable: RemovableSizes) {
    let footprint = plan.footprint
    let files = plan.orphanBytes + removable.fileBytes
    leastEntries = plan.storedEntries - plan.orphanEntries - removable.entries
    let leastFiles = max(0, footprint.bodyFilesBytes - files)
    (leastBytes, mostBytes) = (leastFiles, leastFiles)
    if plan.store.format.hasDatabase {
      let kept = max(0, plan.inlineBytes - removable.inlineBytes)
      // Kept bodies could fit into the free parts of pages that an empty database has anyway, so a
      // page less is certain.
      leastBytes += footprint.emptyBytes + max(0, kept - footprint.pageBytes)
      if plan.store.inUse {
        leastBytes += footprint.walBytes + footprint.shmBytes
        // The other process also affects the length of the log.
        mostBytes = nil
      } else if files > footprint.bodyFilesBytes {
        // Several entries refer to one file, so the sum counts it more than once.
        mostBytes = nil
      } else {
        mostBytes = leastFiles + Self.mostDatabaseBytes(of: plan, removing: removable)
      }
    }
    // Leftovers of a crash occupy space, but are no part of the footprint.
    let total = footprint.totalBytes + removable.leftoverBytes
    // Even a file of one byte occupies a block.
    let count = Int(clamping: removable.entries + removable.leftovers) + plan.orphans.count
    let blocks = ByteCount(4_096) * (count + 8)
    let lengths = max(0, total - leastBytes) + blocks
    // Not every file system reports allocated sizes.
    mostFreed = footprint.allocatedBytes > 0 ? min(lengths, footprint.allocatedBytes) : lengths
    // Removing a sparse or compressed file may free less than its length.
    leastFreed =
      footprint.allocatedBytes < footprint.totalBytes
      ? nil : mostBytes.map { max(0, total - $0) }
  }

  /// Returns the maximum size of a database after removing some entries, in bytes.
  private static func mostDatabaseBytes(
    of plan: RemovalPlan, removing removable: RemovableSizes
  ) -> ByteCount {
    let footprint = plan.footprint
    // The schema may need more than one page.
    let empty = footprint.emptyBytes + footprint.pageBytes * 4
    if removable.entries == plan.storedEntries { return empty }
    let used = footprint.databaseBytes + footprint.growthBytes - footprint.freeBytes
    return max(empty, used - removable.ownPageBytes)
  }

  /// Returns the limits that the cache cannot meet.
  func unmet(of limits: CacheLimits) -> [UnmetLimit] {
    var unmet = limits.unmet(bytes: leastBytes, entries: leastEntries)
    if let wanted = limits.bytesToFree, mostFreed < wanted {
      unmet.append(UnmetLimit(kind: .bytesToFree, limit: wanted.bytes, reachable: mostFreed.bytes))
    }
    return unmet
  }

  /// Whether only a simulation can show if limits that pass ``unmet(of:)`` can be met.
  func isUnknown(of limits: CacheLimits) -> Bool {
    limits.bytes.map { most in mostBytes.map { $0 > most } ?? true } ?? false
      || limits.bytesToFree.map { wanted in
        wanted > 0 && (leastFreed.map { $0 < wanted } ?? true)
      } ?? false
  }
}
