import Bytes
import ResponseStorage

/// Entries added up by what they have in common, in bounded memory.
struct GroupTally {
  /// What a group takes up beside its key, in bytes: about that of the array and of the dictionary.
  private static let groupCost = 128

  private var places: [ByteString?: Int] = [:]
  private var groups: [UsageReport.Group] = []
  private var rest = UsageReport.Rest(groups: nil)
  private var memoryLeft: Int

  /// Starts without entries.
  ///
  /// - Parameter memoryLimit: What the groups may take up, in bytes. Entries of groups that have no
  ///   room are only counted.
  init(memoryLimit: Int) {
    memoryLeft = memoryLimit
  }

  /// Counts an entry.
  mutating func insert(_ key: ByteString?, size: ByteCount) {
    insert(UsageReport.Group(key: key, entries: 1, bytes: size))
  }

  /// Counts the entries of another tally.
  mutating func insert(_ other: GroupTally) {
    for group in other.groups { insert(group) }
    insertIntoRest(other.rest.entries, other.rest.bytes)
  }

  private mutating func insert(_ group: UsageReport.Group) {
    guard let place = place(of: group.key) else {
      return insertIntoRest(group.entries, group.bytes)
    }
    groups[place].insert(group)
  }

  private mutating func insertIntoRest(_ entries: Int64, _ bytes: ByteCount) {
    rest.entries += entries
    rest.bytes += bytes
  }

  /// The groups, the largest first, and what had no room.
  func finished() -> (groups: [UsageReport.Group], rest: UsageReport.Rest?) {
    let sorted = groups.sorted { first, second in
      if first.bytes != second.bytes { return first.bytes > second.bytes }
      if first.entries != second.entries { return first.entries > second.entries }
      return (first.key?.bytes ?? []).lexicographicallyPrecedes(second.key?.bytes ?? [])
    }
    return (sorted, rest.entries > 0 ? rest : nil)
  }

  private mutating func place(of key: ByteString?) -> Int? {
    if let place = places[key] { return place }
    let cost = Self.groupCost + (key?.bytes.count ?? 0)
    guard cost <= memoryLeft else { return nil }
    memoryLeft -= cost
    places[key] = groups.count
    groups.append(UsageReport.Group(key: key))
    return groups.count - 1
  }
}
