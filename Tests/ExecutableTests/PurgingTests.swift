import Foundation
import Testing

/// Removes entries from made-up and real caches, beside a real second process, and looks at what is
/// left with `sqlite3`.
@Suite(.serialized) struct PurgingTests {
  private static let samples = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../../shared/samples/cachedb").standardizedFileURL

  @Test func `what is purged is gone from all tables and the rest is as it was`() throws {
    let result = try Command.python(
      "check_purging.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path,
      Self.samples.path())
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    let hasSamples = FileManager.default.fileExists(atPath: Self.samples.path())
    #expect(
      result.output == """
        every second URL of made-up caches: ok
        every second URL of real caches: \(hasSamples ? "ok" : "not here")
        refusals: ok
        a dry run says what a real one does: ok
        hostile caches: ok
        a lock that is kept: ok
        compacting: ok
        enforcing: ok
        beside a writer: ok
        beside a log: ok

        """)
  }

  @Test func `a dry run of enforce says what a real one removes in all rounds`() throws {
    let result = try Command.python(
      "check_rehearsing.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path,
      Self.samples.path())
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    let hasSamples = FileManager.default.fileExists(atPath: Self.samples.path())
    #expect(
      result.output == """
        24 made-up caches: ok
        real caches: \(hasSamples ? "ok" : "not here")
        a plan and a limit of what may go: ok
        without a copy: ok

        """)
  }

  @Test func `nothing is removed for a limit that cannot be met, and what is met is met on disk`()
    throws
  {
    let result = try Command.python(
      "check_limits.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(result.output == "limits: ok\n")
  }

  @Test func `a plan that is carried out later does what the command would have done`() throws {
    let result = try Command.python(
      "check_applying.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == "same as at once: ok\nchanged since: ok\nanother cache: ok\nrefused: ok\n")
  }

  #if os(Linux)
    @Test func `what is purged of a folder of Foundation is gone, and no other file is touched`()
      throws
    {
      let result = try Command.python(
        "check_foundation_purging.py", BuiltProduct("urlcache-admin").path,
        BuiltProduct("sample-cache").path)
      #expect(result.status == 0, "\(result.output)\n\(result.errors)")
      #expect(
        result.output == """
          every second entry: ok
          a dry run says what a real one does: ok
          changed since: ok
          what URLCache does not see: ok
          hostile folders: ok
          enforcing: ok
          as removeCachedResponses(since:): ok
          beside a writer: ok
          two at once: ok
          stopped by a signal: ok

          """)
    }

    @Test func `a command that is killed leaves whole files in a folder of Foundation`() throws {
      let result = try Command.python(
        "check_foundation_killing.py", BuiltProduct("urlcache-admin").path,
        BuiltProduct("sample-cache").path)
      #expect(result.status == 0, "\(result.output)\n\(result.errors)")
      #expect(
        result.output
          == "purge: ok\nenforce: ok\napply: ok\ncheck: ok\npurge --backup: ok\n")
    }
  #endif

  @Test func `an import that is killed puts in all or nothing`() throws {
    let result = try Command.python(
      "check_import_killing.py", BuiltProduct("urlcache-admin").path,
      BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(result.output == "import: ok\nbackup: ok\n")
  }
}
