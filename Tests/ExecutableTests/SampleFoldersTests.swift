import Foundation
import Testing

/// Lists caches as Apple systems write them, and compares the result with `sqlite3` and Python's `plistlib` on a copy.
@Suite(.serialized) struct SampleFoldersTests {
  /// The folder of real caches, which is not part of the repository.
  private static let samples = Command.tests.appending(path: "../../shared/samples/cachedb")
    .standardizedFileURL

  private static var hasSamples: Bool {
    FileManager.default.fileExists(atPath: samples.path())
  }

  @Test func `every made cache is listed as sqlite3 and plistlib read it, and not modified`() throws
  {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let maker = Command.tests.appending(path: "Acceptance/support/apple_systems.py").path()
    let made = try Command.run("/usr/bin/env", ["python3", maker, folder.path()])
    #expect(made.status == 0, "\(made.errors)")
    try compare(folder, "15 caches equal, 6 refused, nothing changed\n")
  }

  @Test(.enabled(if: hasSamples, "no samples at '../shared/samples': not here"))
  func `every real cache is listed as sqlite3 and plistlib read it, and not modified`() throws {
    try compare(Self.samples, "9 caches equal, 5 refused, nothing changed\n")
  }

  private func compare(_ folder: URL, _ expected: String) throws {
    let result = try Command.python(
      "compare_samples.py", BuiltProduct("urlcache-admin").path, folder.path())
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(result.output == expected)
  }
}
