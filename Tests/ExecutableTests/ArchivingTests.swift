import Foundation
import Testing

/// Exports made-up and real caches, and looks at the archives with the programs of the system.
@Suite(.serialized) struct ArchivingTests {
  private static let samples = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../../shared/samples/cachedb").standardizedFileURL

  private static var real: String {
    FileManager.default.fileExists(atPath: samples.path()) ? "ok" : "not here"
  }

  @Test func `an archive holds all of a cache and other programs read it`() throws {
    let result = try Command.python(
      "check_exporting.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path,
      Self.samples.path())
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == """
        made-up caches: ok
        real caches: \(Self.real)
        stock tools: ok
        same bytes: ok
        selected: ok
        looked at: ok
        refused: ok
        too long: ok

        """)
  }

  @Test func `no secret is in a redacted archive, but in bodies that are kept`() throws {
    let result = try Command.python(
      "check_redacting.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.count == 5 && lines.last == "Foundation's stores: ok", "\(result.output)")
  }

  @Test func `bodies become files with names that every system can have`() throws {
    let result = try Command.python(
      "check_files.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(result.output == "whole caches: ok\nodd URLs: ok\nrefusals: ok\n")
  }

  @Test func `HARs are those of other programs both ways`() throws {
    let result = try Command.python(
      "check_har.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path,
      Self.samples.deletingLastPathComponent().path())
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == """
        hostile HARs: ok
        long HARs: ok
        made-up caches: ok
        real caches: \(Self.real)
        judges: ok
        conversions: ok
        HARs of others: \(Self.real)
        odd HARs: ok
        secrets: ok

        """)
  }

  @Test func `a cache that was exported and imported is the same again`() throws {
    let result = try Command.python(
      "check_restoring.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path,
      Self.samples.path())
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == """
        real caches: \(Self.real)
        made-up caches: ok
        broken entries: ok
        sources: ok
        destinations: ok
        backups: ok

        """)
  }

  @Test func `a sparse body is left out and a signal ends any command within a second`() throws {
    let result = try Command.python(
      "check_large_bodies.py", BuiltProduct("urlcache-admin").path,
      BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == "sparse bodies: ok\nexports: ok\nimports and others: ok\nlocks: ok\n")
  }

  @Test func `an import puts in all of an archive or changes nothing`() throws {
    let result = try Command.python(
      "check_importing.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path,
      Self.samples.path())
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == """
        made-up caches: ok
        real caches: \(Self.real)
        schema of new caches: ok
        conflicts: ok
        selections: ok
        rewritten: ok
        refusals: ok
        hostile archives: ok
        changed bits: ok
        salvaging: ok
        beside an application: ok
        backups: ok
        differences: ok

        """)
  }
}
