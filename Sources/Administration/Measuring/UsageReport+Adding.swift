import Bytes

extension UsageReport {
  /// Adds the entries and groups of another cache with the same grouping, which must not be by ranges.
  ///
  /// The size on disk, the median, the histograms and the churn are those of one cache, and stay as they are.
  public mutating func add(_ other: UsageReport) {
    entries += other.entries
    bodyBytes += other.bodyBytes
    var sums: [ByteString?: Group] = [:]
    for group in groups + other.groups {
      var sum = sums[group.key] ?? Group(key: group.key)
      sum.entries += group.entries
      sum.bytes += group.bytes
      sums[group.key] = sum
    }
    groups = sums.values.sorted(by: Group.isLarger)
    guard let added = other.rest else { return }
    var sum = rest ?? Rest(groups: 0)
    // The same group may be in the rest of both, so their number is not known.
    sum.groups = nil
    sum.entries += added.entries
    sum.bytes += added.bytes
    rest = sum
  }
}

extension UsageReport.Group {
  /// Whether a group comes before another one in the order of sizes.
  static func isLarger(_ first: Self, _ second: Self) -> Bool {
    // Down to the key, as threads deliver groups in any order, and two reports of a cache must be
    // equal.
    if first.bytes != second.bytes { return first.bytes > second.bytes }
    if first.entries != second.entries { return first.entries > second.entries }
    return (first.key?.bytes ?? []).lexicographicallyPrecedes(second.key?.bytes ?? [])
  }
}
