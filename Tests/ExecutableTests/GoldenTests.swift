import Foundation
import Testing

/// Compares complete outputs with the files in `Golden`, for a sample cache that is always the same.
///
/// With `RECORD_GOLDEN=1` in the environment the files are written instead, and the tests fail, so that a recording
/// is never mistaken for a pass.
@Suite(.sampleCache) struct GoldenTests {
  @Test(arguments: commands)
  func `the output of every command matches its golden file`(name: String, arguments: [String])
    throws
  {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let copied = try Command.run("/bin/cp", ["-a", #require(SampleCache.path), folder.path()])
    #expect(copied.status == 0, "\(copied.errors)")
    let result = try Command.run(
      BuiltProduct("urlcache-admin").path,
      arguments.contains { $0.hasPrefix("CACHE") }
        ? arguments.map { $0.replacing("CACHE", with: folder.path()) }
        : [arguments[0], "-c", folder.path()] + arguments.dropFirst())
    let text = """
      $ urlcache-admin \(arguments.joined(separator: " "))
      \(result.output)--- status \(result.status)
      \(result.errors)
      """.replacing(folder.path(), with: "CACHE")
    try expectGolden(text, named: name)
  }

  @Test func `every golden file belongs to a command`() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path())
    #expect(Set(files) == Set(Self.commands.map(\.0)))
  }

  private static let folder = Command.tests.appending(components: "ExecutableTests", "Golden")

  /// The commands and the names of their golden files. `CACHE` is the path of the cache.
  private static let commands: [(String, [String])] = [
    ("list.table.txt", ["list", "--at", "2026-01-02T00:00:00Z"]),
    ("list.json.txt", ["list", "--format", "json", "--limit", "4"]),
    ("list.ndjson.txt", ["list", "--format", "ndjson"]),
    (
      "list.csv.txt",
      [
        "list", "--format", "csv", "--at", "2026-01-02T00:00:00Z", "--columns",
        "id,stored,first-stored,age,status,method,size,mime,url,host,path,scheme,partition,disk",
      ]
    ),
    (
      "list.tsv.txt",
      [
        "list", "--format", "tsv", "--columns",
        "body-location,policy,etag,last-modified,cache-control,date,expires,key,notes",
      ]
    ),
    (
      "list.freshness.txt",
      [
        "list", "--at", "2025-12-01T00:00:00Z", "--columns",
        "id,freshness,ttl,lifetime,lifetime-source,current-age,expires-at,validators",
      ]
    ),
    (
      "list.freshness.csv.txt",
      [
        "list", "--at", "2025-12-01T00:00:00Z", "--format", "csv", "--columns",
        "id,freshness,ttl,lifetime,lifetime-source,current-age,expires-at,validators",
      ]
    ),
    (
      "list.stale.txt",
      [
        "list", "--at", "2025-12-01T00:00:00Z", "--stale", "--no-lifetime", "--validator", "none",
        "--sort", "-ttl", "--columns", "id,ttl,url",
      ]
    ),
    (
      "list.received.txt",
      [
        "list", "--where", "received >= 100%", "--columns", "id,mime,size,received,announced",
        "--sort", "-announced", "--limit", "5",
      ]
    ),
    ("list.urls.txt", ["list", "--format", "urls", "--sort", "url"]),
    ("list.ncdu.txt", ["list", "--format", "ncdu", "--at", "2026-01-02T00:00:00Z"]),
    (
      "list.headers.txt",
      [
        "list", "--format", "ndjson", "--columns", "request-headers,response-headers", "--limit",
        "9",
      ]
    ),
    (
      "list.properties.txt",
      [
        "list", "--format", "csv", "--columns",
        #"id,proto-props,proto-props:Accept-Encoding,proto-props:a\,b,user-info:Cached Date"#,
        "--sort", "-proto-props", "--limit", "3",
      ]
    ),
    (
      "list.sorted.txt",
      [
        "list", "--sort", "-size", "--limit", "5", "--columns", "id,size,url", "--status", "2xx",
      ]
    ),
    ("list.count.txt", ["list", "--count", "--body", "file"]),
    ("list.older.txt", ["list", "--older-than", "800000d", "--count"]),
    ("list.absent.txt", ["list", "https://absent.example/"]),
    (
      "list.names.txt",
      [
        "list", "1", "99999", "https://a:b@absent.example/?token=c", "--id", "2", "--columns",
        "id,url",
        "HTTP://API.bank.example:80/assets/css/f1bbcd88.css",
      ]
    ),
    ("list.bad-column.txt", ["list", "--columns", "colour"]),
    ("list.bad-duration.txt", ["list", "--older-than", "1m"]),
    ("list.path-operand.txt", ["list", "Cache.db", "--format", "json"]),
    ("explain.text.txt", ["explain", "2", "14", "99", "--at", "2025-12-01T00:00:00Z"]),
    (
      "explain.json.txt",
      [
        "explain", "3", "4", "--format", "json", "--at", "2025-12-01T00:00:00Z", "--policy", "3",
      ]
    ),
    ("show.text.txt", ["show", "3", "--at", "2026-01-02T00:00:00Z"]),
    ("show.json.txt", ["show", "3", "4", "--format", "json", "--at", "2026-01-02T00:00:00Z"]),
    ("show.headers.txt", ["show", "3", "--headers"]),
    ("show.request.txt", ["show", "3", "--request", "--show-secrets"]),
    ("show.curl.txt", ["show", "3", "12", "13", "99999", "--curl"]),
    ("show.absent.txt", ["show", "999"]),
    ("show.partly-absent.txt", ["show", "1", "999", "--request"]),
    ("show.all-absent.txt", ["show", "998", "https://absent.example/\u{1B}", "--format", "json"]),
    ("show.nothing.txt", ["show"]),
    ("body.no-folder.txt", ["body", "1", "-o", "/no/such/folder/body"]),
    ("body.exists.txt", ["body", "1", "-o", "/dev/null"]),
    ("body.pretty.txt", ["body", "13", "--pretty"]),
    ("body.not-json.txt", ["body", "3", "--pretty"]),
    ("body.not-coded.txt", ["body", "13", "--decoded", "--pretty"]),
    ("body.limit-alone.txt", ["body", "13", "--decoded-limit", "1MiB"]),
    ("body.absent.txt", ["body", "999"]),
    (
      "usage.table.txt",
      [
        "usage", "--by", "host", "--capacity", "4MiB", "--fail-above", "90%", "--at",
        "2026-01-02T00:00:00Z",
      ]
    ),
    (
      "usage.limit.txt",
      [
        "usage", "--by", "status", "--limit", "2", "--at", "2026-01-02T00:00:00Z",
      ]
    ),
    ("usage.json.txt", ["usage", "--by", "status", "--format", "json"]),
    ("usage.limit.json.txt", ["usage", "--by", "host", "--limit", "1", "--format", "json"]),
    ("usage.freshness.txt", ["usage", "--by", "freshness", "--at", "2025-12-01T00:00:00Z"]),
    ("usage.csv.txt", ["usage", "--by", "mime", "--format", "csv"]),
    ("usage.tsv.txt", ["usage", "--by", "method", "--format", "tsv"]),
    ("purge.dry-run.txt", ["purge", "--larger-than", "5K", "--dry-run"]),
    ("purge.dry-run.json.txt", ["purge", "--status", "404,3xx", "-n", "--format", "json"]),
    ("purge.since.txt", ["purge", "--since", "2025-12-01T00:00:00Z", "-n"]),
    (
      "purge.near-miss.txt",
      [
        "purge", "https://images.photos.example/photos/9e3779b1.jpg", "-n",
      ]
    ),
    ("purge.nobody-to-ask.txt", ["purge", "--all"]),
    (
      "purge.stale.txt",
      [
        "purge", "--stale", "--validator", "none", "-n", "--at", "2025-12-01T00:00:00Z",
      ]
    ),
    ("purge.nothing.txt", ["purge", "--yes"]),
    ("purge.too-many.txt", ["purge", "--all", "--yes", "--max-delete", "50%", "--format", "json"]),
    (
      "enforce.dry-run.txt",
      [
        "enforce", "--max-size", "500K", "--low", "80%", "-n", "--at", "2026-01-02T00:00:00Z",
      ]
    ),
    ("enforce.dry-run.json.txt", ["enforce", "--max-entries", "38", "-n", "--format", "json"]),
    (
      "enforce.stale-first.txt",
      [
        "enforce", "--max-entries", "30", "--order", "stale-first", "-n", "--at",
        "2025-12-01T00:00:00Z",
      ]
    ),
    ("enforce.no-limit.txt", ["enforce", "--yes"]),
    ("expire.dry-run.txt", ["expire", "--all", "--clear-user-info", "Cached Date", "-n"]),
    (
      "expire.dry-run.json.txt",
      [
        "expire", "--all", "--clear-user-info", "Cached Date", "-n", "--format", "json",
      ]
    ),
    ("compact.dry-run.txt", ["compact", "-n"]),
    ("compact.dry-run.json.txt", ["compact", "-n", "--format", "json"]),
    ("check.table.txt", ["check"]),
    ("check.json.txt", ["check", "--format", "json"]),
    ("check.dry-run.txt", ["check", "--repair=undecodable,orphans", "--dry-run"]),
    ("check.dry-run.json.txt", ["check", "--repair", "-n", "--format", "json"]),
    ("check.nobody-to-ask.txt", ["check", "--repair"]),
    ("check.no-repair.txt", ["check", "--yes"]),
    ("usage.above.txt", ["usage", "--capacity", "10kB", "--fail-above", "90%", "--format", "tsv"]),
    ("usage.age.txt", ["usage", "--by", "age", "--at", "2026-01-02T00:00:00Z"]),
    ("usage.size.csv.txt", ["usage", "--by", "size", "--format", "csv"]),
    (
      "usage.policy.txt",
      [
        "usage", "--by", "storage-policy", "--at", "2026-01-02T00:00:00Z", "--format", "tsv",
      ]
    ),
    (
      "usage.histogram.txt",
      [
        "usage", "--histogram", "--capacity", "512KiB", "--at", "2026-01-02T00:00:00Z",
      ]
    ),
    (
      "usage.histogram.json.txt",
      [
        "usage", "--histogram", "--by", "partition", "--format", "json", "--at",
        "2026-01-02T00:00:00Z",
      ]
    ),
    (
      "usage.savings.txt",
      [
        "usage", "--savings", "--superseded", "--limit", "3", "--at", "2025-12-01T00:00:00Z",
      ]
    ),
    (
      "usage.savings.json.txt",
      [
        "usage", "--savings", "--superseded", "--limit", "2", "--at", "2025-12-01T00:00:00Z",
        "--format", "json",
      ]
    ),
    ("usage.savings.csv.txt", ["usage", "--savings", "--format", "csv"]),
    ("usage.all.txt", ["usage", "--all-under", "CACHE"]),
    ("usage.all.json.txt", ["usage", "--all-under", "CACHE", "--format", "json"]),
    ("usage.all.absent.txt", ["usage", "--all-under", "CACHE/none"]),
    (
      "report.html.txt",
      ["report", "-o", "-", "--at", "2025-12-01T00:00:00Z", "--capacity", "1MiB"]
    ),
    (
      "report.markdown.txt",
      [
        "report", "-o", "-", "--at", "2025-12-01T00:00:00Z", "--format", "markdown",
      ]
    ),
    ("report.exists.txt", ["report", "-o", "/dev/null"]),
    ("discover.table.txt", ["discover", "CACHE", "--at", "2026-01-02T00:00:00Z"]),
    ("discover.json.txt", ["discover", "CACHE", "--format", "json"]),
    ("discover.absent.txt", ["discover", "CACHE/none"]),
  ]

  private func expectGolden(_ text: String, named name: String) throws {
    let golden = Self.folder.appending(path: name)
    if ProcessInfo.processInfo.environment["RECORD_GOLDEN"] == "1" {
      try Data(text.utf8).write(to: golden)
      Issue.record("recorded \(name)")
    } else {
      let expected = try String(contentsOf: golden, encoding: .utf8)
      // The allocated size depends on the file system.
      #expect(withoutAllocation(text) == withoutAllocation(expected), "differs from Golden/\(name)")
    }
  }

  private func withoutAllocation(_ text: String) -> String {
    text.replacing(/"allocated_bytes":\d+/, with: "\"allocated_bytes\":N")
  }
}

/// Makes a sample cache before the tests of a suite, and removes it after them.
private struct SampleCache: SuiteTrait, TestScoping {
  /// The path of the cache, of which each test gets a copy.
  @TaskLocal static var path: String?

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let made = try Command.run(
      BuiltProduct("urlcache-admin").path,
      [
        "sample", "--newest", "2026-01-01T00:00:00Z", "--entries", "40", "--seed", "7", "--faults",
        "orphan-files,missing-bodies,undecodable",
        folder.path(),
      ])
    #expect(made.status == 0, "\(made.errors)")
    try await Self.$path.withValue(folder.path(), operation: function)
  }
}

extension Trait where Self == SampleCache {
  fileprivate static var sampleCache: Self { Self() }
}
