import Foundation
import Testing

/// Lists real caches, and compares the result with `sqlite3` and Python's `plistlib` on a copy.
@Suite(.serialized) struct SampleFoldersTests {
  /// The folder of real caches, which is not part of the repository.
  private static let samples = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../../shared/samples/cachedb").standardizedFileURL

  private static var hasSamples: Bool {
    let found = FileManager.default.fileExists(atPath: samples.path())
    if !found { print("no real caches at \(samples.path()): not compared") }
    return found
  }

  @Test(.enabled(if: hasSamples))
  func `every real cache is listed as sqlite3 and plistlib read it, and not modified`() throws {
    let result = try Command.python(
      "compare_samples.py", BuiltProduct("urlcache-admin").path, Self.samples.path())
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(result.output == "9 caches equal, 5 refused, nothing changed\n")
  }
}
