import Foundation
import Testing

/// Looks for caches in a made-up home, as a user who may not look everywhere.
@Suite(.serialized) struct DiscoverTests {
  @Test func `exactly the caches of a home are found and nothing changes`() throws {
    // Real databases, which are not part of the repository.
    let samples = Command.tests.appending(path: "../../shared/samples/cachedb").standardizedFileURL
    let result = try Command.python(
      "check_discover.py", BuiltProduct("urlcache-admin").path, samples.path())
    let hasSamples = FileManager.default.fileExists(atPath: samples.path())
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == """
        a home with 40 stores: ok
        a table, and what could not be looked into: ok
        sums: ok
        real databases: \(hasSamples ? "ok" : "not here")
        opened files: ok
        places: ok
        folders: ok
        depth: ok
        names: ok
        use: ok
        journals: ok
        damage: ok

        """)
  }
}
