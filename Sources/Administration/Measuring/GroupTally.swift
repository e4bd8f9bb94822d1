import Bytes
import ResponseStorage

/// Entries counted by a common key, in bounded memory.
struct GroupTally {
  /// The memory of a group besides its key, in bytes: about that of its array and dictionary slots.
  private static let groupCost = 128

  private var places: [ByteString?: Int] = [:]
  private var groups: [UsageReport.Group] = []
  private var rest = UsageReport.Rest(groups: nil)
  private var memoryLeft: Int

  /// Creates an empty tally.
  ///
  /// - Parameter memoryLimit: The maximum memory of the groups, in bytes. Entries of groups over the limit are only
  ///   counted.
  init(memoryLimit: Int) {
    memoryLeft = memoryLimit
  }

  /// Counts an entry.
  mutating func insert(_ key: ByteString?, size: ByteCount) {
    insert(UsageReport.Group(key: key, entries: 1, bytes: size))
  }

  /// Adds another tally.
  mutating func insert(_ other: GroupTally) {
    for group in other.groups { insert(group) }
    // Sums stay exact beyond the limit. Only the names are lost.
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

  /// Returns the groups, largest first, and the entries that did not fit.
  func finished() -> (groups: [UsageReport.Group], rest: UsageReport.Rest?) {
    return (groups.sorted(by: UsageReport.Group.isLarger), rest.entries > 0 ? rest : nil)
  }

  private mutating func place(of key: ByteString?) -> Int? {
    if let place = places[key] { return place }
    let cost = Self.groupCost + (key?.bytes.count ?? 0)
    // Servers can make up any number of hosts, media types and methods.
    guard cost <= memoryLeft else { return nil }
    memoryLeft -= cost
    places[key] = groups.count
    groups.append(UsageReport.Group(key: key))
    return groups.count - 1
  }
}
