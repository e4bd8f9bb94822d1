import Bytes
import ResponseStorage

/// How small a cache becomes once all is removed that a plan may remove, as far as that is known before.
///
/// What a database gives back only shows afterwards. These are bounds for it, which hold whatever its pages look like.
struct LimitReach {
  /// The files never take up less, in bytes.
  var leastBytes: ByteCount
  /// The files take up no more once all is removed that may be, in bytes; `nil` if that is not known.
  var mostBytes: ByteCount?
  /// How many entries are kept.
  var leastEntries: Int64
  /// The file system gets no more back, in bytes.
  var mostFreed: ByteCount
  /// The file system gets no less back, in bytes; `nil` if that is not known.
  var leastFreed: ByteCount?

  /// Adds up what can be removed.
  ///
  /// - Parameter plan: A plan that removes all that may be removed.
  init(of plan: RemovalPlan) {
    let footprint = plan.footprint
    let counted = plan.entries.lazy.filter { !$0.isOrphan }
    let files = counted.reduce(plan.orphanBytes) { $0 + $1.returnedBytes }
    leastEntries =
      plan.storedEntries - plan.orphanEntries - Int64(plan.entries.count { !$0.isOrphan })
    let leastFiles = max(0, footprint.bodyFilesBytes - files)
    (leastBytes, mostBytes) = (leastFiles, leastFiles)
    if plan.store.format.hasDatabase {
      let inline = counted.filter { !$0.hasBodyFile }
      let kept = inline.reduce(plan.inlineBytes) { max(0, $0 - ($1.size ?? 0)) }
      leastBytes += footprint.emptyBytes + max(0, kept - footprint.pageBytes)
      if plan.store.inUse {
        leastBytes += footprint.walBytes + footprint.shmBytes
        // How long the log becomes depends on the other process, too.
        mostBytes = nil
      } else if files > footprint.bodyFilesBytes {
        // Several entries name one file.
        mostBytes = nil
      } else {
        mostBytes =
          leastFiles + Self.mostDatabaseBytes(of: plan, removing: inline.map { $0.size ?? 0 })
      }
    }
    let leftovers = plan.entries.lazy.filter(\.isOrphan)
      .reduce(0 as ByteCount) { $0 + $1.returnedBytes }
    let total = footprint.totalBytes + leftovers
    // A file of one byte occupies a block.
    let blocks = ByteCount(4_096) * (plan.entries.count + plan.orphans.count + 8)
    let lengths = max(0, total - leastBytes) + blocks
    // Not every file system tells what it charges.
    mostFreed = footprint.allocatedBytes > 0 ? min(lengths, footprint.allocatedBytes) : lengths
    // What occupies less than its length may give back nothing.
    leastFreed =
      footprint.allocatedBytes < footprint.totalBytes
      ? nil : mostBytes.map { max(0, total - $0) }
  }

  /// What a database takes up at most once some entries are removed, in bytes.
  ///
  /// - Parameter sizes: The sizes of their bodies inside the database.
  private static func mostDatabaseBytes(
    of plan: RemovalPlan, removing sizes: some Sequence<ByteCount>
  ) -> ByteCount {
    let footprint = plan.footprint
    // The text of the schema may take a few more pages than one.
    let empty = footprint.emptyBytes + footprint.pageBytes * 4
    if plan.entries.count == plan.storedEntries { return empty }
    let used = footprint.databaseBytes + footprint.growthBytes - footprint.freeBytes
    // The pages of a long value are its own, but for its beginning and its end.
    let ownPages = sizes.reduce(0 as ByteCount) { $0 + max(0, $1 - footprint.pageBytes * 2) }
    return max(empty, used - ownPages)
  }

  /// What a limit asks for and a cache cannot give.
  func unmet(of limits: CacheLimits) -> [UnmetLimit] {
    var unmet = limits.unmet(bytes: leastBytes, entries: leastEntries)
    if let wanted = limits.bytesToFree, mostFreed < wanted {
      unmet.append(UnmetLimit(kind: .bytesToFree, limit: wanted.bytes, reachable: mostFreed.bytes))
    }
    return unmet
  }

  /// Whether it takes a simulation to find out whether limits can be met that ``unmet(of:)`` has nothing against.
  func isUnknown(of limits: CacheLimits) -> Bool {
    limits.bytes.map { most in mostBytes.map { $0 > most } ?? true } ?? false
      || limits.bytesToFree.map { wanted in
        wanted > 0 && (leastFreed.map { $0 < wanted } ?? true)
      } ?? false
  }
}
