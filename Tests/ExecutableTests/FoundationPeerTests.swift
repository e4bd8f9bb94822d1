import Foundation
import Testing

#if os(Linux)
  /// Holds reading and writing of Foundation's stores against Foundation's own `URLCache`.
  @Suite(.serialized) struct FoundationPeerTests {
    @Test func `Foundation and this program read each other and no file harms this one`() throws {
      let result = try Command.python(
        "check_foundation.py", BuiltProduct("urlcache-admin").path,
        BuiltProduct("sample-cache").path, "32")
      #expect(result.status == 0, "\(result.output)\n\(result.errors)")
      #expect(
        result.output == """
          stock to ours: ok
          ours to stock: ok
          deaths: ok
          bombs: ok
          files: ok
          damage: ok
          kinds: ok

          """)
    }

    @Test func `entries move out of Foundation's stores and into them`() throws {
      let samples = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../shared/samples/cachedb").standardizedFileURL.path()
      let real = FileManager.default.fileExists(atPath: samples) ? "ok" : "not here"
      let result = try Command.python(
        "check_foundation_moving.py", BuiltProduct("urlcache-admin").path,
        BuiltProduct("sample-cache").path, samples)
      #expect(result.status == 0, "\(result.output)\n\(result.errors)")
      #expect(
        result.output == """
          round trips: ok
          stored by Foundation: ok
          what is lost, made-up caches: ok
          what is lost, real caches: \(real)
          found by Foundation: ok
          conflicts: ok
          refusals: ok
          backups: ok
          large bodies: ok

          """)
    }

    @Test func `a URL is looked up as Foundation does`() throws {
      let result = try Command.python(
        "check_foundation_lookup.py", BuiltProduct("urlcache-admin").path, "150")
      #expect(result.status == 0, "\(result.output)\n\(result.errors)")
      #expect(
        result.output == """
          names: ok
          findings: ok
          predictions: ok

          """)
    }

    @Test func `Foundation takes what is refreshed for fresh again`() throws {
      let result = try Command.python(
        "check_revalidating_foundation.py", BuiltProduct("urlcache-admin").path)
      #expect(result.status == 0, "\(result.output)\n\(result.errors)")
      #expect(
        result.output == """
          report: ok
          refreshing: ok
          fresh again: ok

          """)
    }
  }
#endif
