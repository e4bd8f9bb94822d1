public import ResponseStorage

extension CacheReport {
  /// Measures a cache, in one pass over its entries.
  ///
  /// A sum that is too large stays at the largest number: a store can claim any size.
  ///
  /// - Parameters:
  ///   - now: The moment that ages are counted to, and at which entries are fresh or stale.
  ///   - expiryRules: The expiries of an application's own, which count for whether entries are fresh.
  ///   - capacityBytes: The limit to hold the footprint against, if there is one.
  /// - Throws: What the source throws.
  /// - Complexity: O(*n*), where *n* is the number of entries, in bounded memory.
  public init(
    of source: any ResponseSource, at now: Timestamp, expiryRules: [UserInfoExpiry.Rule],
    capacityBytes: Int64?
  ) throws {
    var usage = UsageReport(footprint: try source.footprint())
    usage.capacityBytes = capacityBytes
    self.init(of: source.description, usage, now: now)
    self.expiryRules = expiryRules
    let isApple = store.format == .apple
    let empty = CacheReportTally(
      now: now, expiryRules: expiryRules,
      largestBody: isApple ? capacityBytes.map { $0 / 20 } : nil)
    var tally = empty
    try source.forEachPortion(CacheReportTally.projection, startingWith: empty, in: .any) {
      portion in
      tally.insert(portion)
      portion = empty
      return .next
    }
    try tally.write(to: &self, lookingUpIn: source)
  }
}
