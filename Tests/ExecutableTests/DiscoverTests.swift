import Foundation
import Testing

/// Looks for caches in a made-up home, as a user who may not look everywhere.
@Suite(.serialized) struct DiscoverTests {
  @Test func `exactly the caches of a home are found and nothing changes`() throws {
    var arguments = [BuiltProduct("urlcache-admin").path]
    // Real databases that are no caches, which are not part of the repository.
    let samples = Command.tests.appending(path: "../../shared/samples/cachedb").standardizedFileURL
    if FileManager.default.fileExists(atPath: samples.path()) {
      arguments.append(samples.path())
    } else {
      print("no real databases at \(samples.path()): made-up ones only")
    }
    let script = Command.tests.appending(path: "ExecutableTests/check_discover.py").path()
    let result = try Command.run("/usr/bin/env", ["python3", script] + arguments)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == """
        a home with 40 stores: ok
        a table, and what could not be looked into: ok
        sums: ok
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
