import Foundation
import Testing

/// Compares how many entries the commands find fresh, stale, without a lifetime and unknown.
@Suite struct CountingTests {
  private static let samples = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../../shared/samples/cachedb").standardizedFileURL

  @Test func `all commands count the same entries as fresh, stale and without a lifetime`() throws {
    let result = try Command.python(
      "check_counts.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path,
      Self.samples.path())
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    let hasSamples = FileManager.default.fileExists(atPath: Self.samples.path())
    #expect(
      result.output == """
        made-up caches: ok
        real caches: \(hasSamples ? "ok" : "not here")

        """)
  }
}
