import Foundation
import Testing

/// Makes each thing wrong with a cache that can be, and looks at what is found and repaired with
/// `sqlite3`, beside a real second process.
@Suite(.serialized) struct CheckingTests {
  @Test func `each fault is found and repaired and nothing else is touched`() throws {
    // Real databases, which are not part of the repository.
    let samples = Command.tests.appending(path: "../../shared/samples/cachedb").standardizedFileURL
    let result = try Command.python(
      "check_checking.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path,
      samples.path())
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    let hasSamples = FileManager.default.fileExists(atPath: samples.path())
    #expect(
      result.output == """
        each fault: ok
        made-up caches: ok
        real caches: \(hasSamples ? "ok" : "not here")
        damaged databases: ok
        foundation: ok

        """)
  }

  @Test func `a repair removes what is lost and leaves what has changed`() throws {
    let result = try Command.python(
      "check_repairing.py", BuiltProduct("urlcache-admin").path, BuiltProduct("sample-cache").path)
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    #expect(
      result.output == """
        options: ok
        hinted: ok
        planned: ok
        hostile caches: ok
        unreadable: ok
        changed meanwhile: ok
        killed: ok
        beside a writer: ok

        """)
  }
}
