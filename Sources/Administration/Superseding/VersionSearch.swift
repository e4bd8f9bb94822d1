import Bytes
import Files
import ResponseStorage

/// Finds the superseded entries among the versions of resources. Memory does not grow with their number.
struct VersionSearch {
  /// An entry that is superseded, or may be.
  private struct Found: Spoolable {
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

  private var versions: SpooledSort<VersionedEntry>
  private var found: SpooledSort<Found>

  /// - Parameter temporaryFolder: The folder for the unnamed files that many versions need.
  init(in temporaryFolder: String) {
    versions = SpooledSort(in: temporaryFolder) { $0.precedes($1) }
    found = SpooledSort(in: temporaryFolder) { $0.id < $1.id }
  }

  /// Adds versions of resources, in any order.
  mutating func insert(_ entries: [VersionedEntry]) throws(FileError) {
    for entry in entries { try versions.insert(entry) }
  }

  /// Removes all versions, and returns the superseded entries.
  ///
  /// - Complexity: O(*n* log *n*), where *n* is the number of versions.
  mutating func finish() throws(FileError) -> SupersededEntries {
    var result = SupersededEntries()
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
        try found.insert(Found(entry.id, isCertain: false))
      } else if entry.isBefore(known) {
        try found.insert(Found(entry.id, isCertain: true))
        result.sum.insert(entry.size)
      }
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
}
