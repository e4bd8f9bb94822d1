import Foundation
import Testing

/// Tries the examples for operators with the programs they are for.
@Suite struct ExamplesTests {
  private static let examples = path("../share/doc/urlcache-admin/examples")
  private static let peers = path("../.build/peers")
  private static let samples = path("../../shared/samples/cachedb")

  @Test(.enabled(if: hasMonitors, "there is no Prometheus: run sh Tests/run.sh"))
  func `Prometheus evaluates the rules, and answers each query of the dashboard`() throws {
    try expect(
      """
      rules: ok
      dashboard's model: ok
      scrape: ok
      alerts: ok
      dashboard's queries: ok, 19
      two files: the first counts

      """, of: "check_monitoring.py", Self.peers)
  }

  /// `Tests/run.sh --operations` does so with 1,000 machines, and asks DuckDB and Spark too.
  @Test func `SQLite says of the inventories of a fleet what its machines say`() throws {
    try expect(
      """
      25 machines: ok
      sqlite: ok
      as usage says: ok
      unreadable: ok

      """, of: "check_fleet.py", "25")
  }

  @Test func `SQLite answers what osquery is to ask of a database`() throws {
    try expect(
      """
      made-up caches: ok
      real caches: \(Self.isThere(Self.samples) ? "ok" : "not here")

      """, of: "check_osquery.py", Self.samples)
  }

  /// Runs a script with the products and the folder of examples, and expects what it prints.
  private func expect(_ output: String, of script: String, _ argument: String) throws {
    let result = try Command.python(
      script, BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path, Self.examples,
      argument)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(result.output == output)
  }

  private static var hasMonitors: Bool {
    ["promtool", "prometheus", "prometheus-node-exporter", "grafana_foundation_sdk"].allSatisfy {
      isThere("\(peers)/\($0)")
    }
  }

  /// The path of what lies at `path` as seen from the folder of all tests.
  private static func path(_ path: String) -> String {
    Command.tests.appending(path: path).standardizedFileURL.path()
  }

  private static func isThere(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: path)
  }
}
