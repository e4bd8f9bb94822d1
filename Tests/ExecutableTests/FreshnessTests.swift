import Foundation
import Testing

/// Compares lifetimes, ages, validators and what is selected by them with what a second reading of the
/// RFCs, in Python, takes from the property lists.
@Suite struct FreshnessTests {
  private static let samples = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../../shared/samples/cachedb").standardizedFileURL

  @Test func `every verb says of freshness what a second reading says`() throws {
    let result = try Command.python(
      "check_freshness.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path,
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
