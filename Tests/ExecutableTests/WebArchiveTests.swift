import Foundation
import Testing

/// Exports and imports WARC and WACZ files, which warcio looks at.
@Suite struct WebArchiveTests {
  private static let samples = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../../shared/samples").standardizedFileURL

  private static func folder(_ name: String) -> String { samples.appending(path: name).path() }

  private static var real: String {
    FileManager.default.fileExists(atPath: samples.path()) ? "ok" : "not here"
  }

  @Test func `web archives are what other programs read, and come back`() throws {
    let result = try Command.python(
      "check_warc.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path,
      Self.folder("cachedb"))
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == """
        exports: ok
        all formats: ok
        real caches: \(Self.real)
        round trips: ok
        secrets: ok
        interrupted: ok

        """)
  }

  @Test func `web archives of others are read, or refused`() throws {
    let result = try Command.python(
      "check_warc_importing.py", BuiltProduct("urlcache-admin").path,
      BuiltProduct("sample-cache").path, Self.folder("warc"))
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == """
        files of others: \(Self.real)
        files of warcio: ok
        records that are no entries: ok
        methods: ok
        hostile files: ok
        salvaging: ok

        """)
  }
}
