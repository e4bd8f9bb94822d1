import Foundation
import Testing

@Suite struct MetricsTests {
  @Test func `metrics and logs say what other commands say, and promtool reads them`() throws {
    // Where Tests/run.sh puts it.
    let promtool = Command.tests.appending(path: "../.build/peers/promtool").standardizedFileURL
    try #require(
      FileManager.default.isExecutableFile(atPath: promtool.path()),
      "promtool is not there; Tests/run.sh gets it")
    let result = try Command.python(
      "check_metrics.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path,
      promtool.path())
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(result.output == "snapshot: ok\nruns: ok\nbeside: ok\n")
  }
}
