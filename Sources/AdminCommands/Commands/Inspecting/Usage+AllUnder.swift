import Administration
import ArgumentParser
import Bytes
import Rendering
import ResponseStorage

extension URLCacheAdmin.Usage {
  /// Rejects options for a single cache.
  func validateAllUnder() throws {
    guard cache.cache == nil, operands.first == nil else {
      throw ValidationError("'--all-under' adds up all caches below a folder, and takes no cache.")
    }
    let others: KeyValuePairs = [
      "--histogram": histogram, "--capacity": capacity != nil, "--fail-above": failAbove != nil,
      "--superseded": superseded, "--savings": savings,
    ]
    let given = others.filter(\.value).map { "'\($0.key)'" }
    guard given.isEmpty else {
      throw ValidationError(
        "'--all-under' adds up whole caches and cannot be combined with \(given.joined(separator: ", "))."
      )
    }
    guard by != nil || limit == nil else {
      throw ValidationError(
        "'--limit' is the number of groups: with '--all-under' it needs '--by'.")
    }
    guard by != .entryClass, by?.hasRanges != true else {
      throw ValidationError(
        "'--by \(by?.rawValue ?? "")' works only on a single cache, without '--all-under'.")
    }
    guard by != nil || format == .table || format == .json else {
      throw ValidationError("'--all-under' writes csv and tsv only with '--by'.")
    }
  }

  /// Shows the sizes of all caches found below folders.
  func runAllUnder(in environment: CommandEnvironment) throws -> ExitStatus {
    let search = StoreSearch(below: allUnder, needsFolders: true)
    // Whoever asks for the sizes of all caches looks for the large ones.
    let discovery = try environment.findStores(search).largestFirst
    let now = cache.now(in: environment)
    let renderer = DiscoveryRenderer(now: now)
    let groups = try groups(in: discovery, at: now, environment)
    let groupRenderer = UsageRenderer(secrets: secrets.policy, now: now)
    var output = OutputBuffer(environment)
    switch format {
    case .json: renderer.appendUsageJSON(discovery, groups, groupRenderer, into: &output.text)
    case .csv: groupRenderer.appendCSV(groups, into: &output.text)
    case .tsv: groupRenderer.appendTSV(groups, into: &output.text)
    case .table:
      renderer.appendUsageTable(discovery, into: &output.text)
      groupRenderer.appendGroupTable(groups, into: &output.text)
    }
    try output.flush()
    environment.noteFindings(of: discovery, search)
    return .done
  }

  /// Adds up the groups of all found caches; without '--by' there are none.
  private func groups(
    in discovery: Discovery, at now: Timestamp, _ environment: CommandEnvironment
  ) throws -> UsageReport {
    var sum = UsageReport(footprint: Footprint())
    guard let by else { return sum }
    sum.grouping = by
    for store in discovery.stores {
      do {
        let source = try environment.openSource(store.path, cache.waitMilliseconds, now).source
        sum.add(
          try UsageReport(
            of: source, by: by, capacityBytes: nil, now: now, expiryRules: expiry.rules))
        try source.finish()
      } catch let error as StoreError {
        environment.note("not included in the groups: \(error)")
      }
    }
    if let count = limit ?? (format == .table ? Self.groupsInTable : nil) {
      sum.cutGroups(to: count)
    }
    return sum
  }
}
