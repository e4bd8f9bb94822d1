import Bytes
import Files
import ResponseStorage
import SQLite

/// Finds the superseded entries among the versions of resources. Only their ids are in memory.
struct VersionSearch {
  /// An entry that is superseded, or may be.
  private struct Found: ScratchRow {
    let id: StoredResponse.ID
    let isCertain: Bool

    init(_ id: StoredResponse.ID, isCertain: Bool) { (self.id, self.isCertain) = (id, isCertain) }

    func pack(into values: inout PackedValues) {
      values.append(id: id)
      values.append(isCertain)
    }

    init(from reader: inout PackedReader) throws(PackedReader.Failure) {
      id = try reader.id()
      isCertain = try reader.flag()
    }
  }

  private var versions = Scratch.Sort<VersionedEntry>(descending: VersionedEntry.areKeysDescending)

  /// Adds versions of resources, in any order.
  mutating func insert(_ entries: [VersionedEntry]) throws(FileError) {
    for entry in entries { try versions.insert(entry, by: entry.scratchKeys) }
  }

  /// Removes all versions, and returns the sum of the superseded entries. Memory does not grow with their number.
  ///
  /// - Complexity: O(*n* log *n*), where *n* is the number of versions.
  mutating func sum() throws(FileError) -> CacheReport.Sum {
    var sum = CacheReport.Sum()
    try removeAll { if $1 { sum.insert($0.size) } }
    return sum
  }

  /// Removes all versions, and returns the superseded entries.
  ///
  /// - Complexity: O(*n* log *n*), where *n* is the number of versions.
  mutating func finish() throws(FileError) -> SupersededEntries {
    var result = SupersededEntries()
    var found = Scratch.Sort<Found>()
    try removeAll { entry, isCertain throws(FileError) in
      try found.insert(Found(entry.id, isCertain: isCertain), by: entry.id.scratchKey)
    }
    var ids = try found.removeAll()
    while let entry = try ids.next() {
      if entry.isCertain {
        result.superseded.append(entry.id)
      } else {
        result.ofUnknownTime.append(entry.id)
      }
    }
    result.superseded.finish()
    result.ofUnknownTime.finish()
    return result
  }

  /// Removes all versions, and calls `body` with each entry that is superseded, or may be.
  private mutating func removeAll(
    _ body: (VersionedEntry, _ isCertain: Bool) throws(FileError) -> Void
  ) throws(FileError) {
    var sorted = try versions.removeAll()
    var newest: VersionedEntry?
    while let entry = try sorted.next() {
      guard let known = newest, entry.isVersion(ofSameAs: known) else {
        newest = entry
        continue
      }
      // The newest version comes first, unless there is none that supersedes others.
      guard known.supersedes, !entry.isSameVersion(as: known) else { continue }
      // By the time of storing, since hashes have no order, and a roll-back makes an older number the
      // newest version. Without a time it may be older than the newest version, or newer.
      if entry.stored == nil {
        try body(entry, false)
      } else if entry.isBefore(known) {
        try body(entry, true)
      }
    }
  }
}
