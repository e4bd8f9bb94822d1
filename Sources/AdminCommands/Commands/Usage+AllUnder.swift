import ArgumentParser
import Rendering
import ResponseStorage

extension URLCacheAdmin.Usage {
  /// Rejects options for a single cache.
  func validateAllUnder() throws {
    guard cache.cache == nil else {
      throw ValidationError("'--all-under' and '-c' exclude each other.")
    }
    let others: KeyValuePairs = [
      "--by": by != nil, "--histogram": histogram, "--capacity": capacity != nil,
      "--fail-above": failAbove != nil, "--limit": limit != nil,
      "--superseded": superseded, "--savings": savings,
    ]
    let given = others.filter(\.value).map { "'\($0.key)'" }
    guard given.isEmpty else {
      throw ValidationError(
        "'--all-under' adds up whole caches, and does not take \(given.joined(separator: ", ")).")
    }
    guard format == .table || format == .json else {
      throw ValidationError("'--all-under' takes '--format table' or 'json' only.")
    }
  }

  /// Shows the sizes of all caches found below folders.
  func runAllUnder(in environment: CommandEnvironment) throws -> ExitStatus {
    let search = StoreSearch(below: allUnder, needsFolders: true)
    // Whoever asks for the sizes of all caches looks for the large ones.
    let discovery = try environment.findStores(search).largestFirst
    let renderer = DiscoveryRenderer(now: environment.now)
    var output = OutputBuffer(environment)
    if format == .json {
      renderer.appendUsageJSON(discovery, into: &output.text)
    } else {
      renderer.appendUsageTable(discovery, into: &output.text)
    }
    try output.flush()
    environment.noteFindings(of: discovery, search)
    return .done
  }
}
