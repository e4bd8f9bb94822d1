import AdminCommands
import Bytes
import ResponseStorage
import TestSupport
import Testing

/// Runs complete command lines with application-defined expiry.
@Suite struct ExpiryTests {
  /// The time at which all entries were stored, which is also the date that the application attached.
  private static let stored = 1_760_000_000.0

  @Test(
    arguments: [
      (
        599, "1,fresh,2,1760000601\n2,fresh,3001,1760003600\n3,no-lifetime,,1760000601\n", "1 2",
        "fresh 2,no-lifetime 1"
      ),
      (
        600, "1,fresh,1,1760000601\n2,fresh,3000,1760003600\n3,no-lifetime,,1760000601\n", "1 2",
        "fresh 2,no-lifetime 1"
      ),
      (
        601, "1,stale,0,1760000601\n2,fresh,2999,1760003600\n3,stale,0,1760000601\n", "2",
        "fresh 1,stale 2"
      ),
    ] as [(Double, String, String, String)])
  func `all commands honour the expiry of the application`(
    _ later: Double, _ rows: String, _ fresh: String, _ groups: String
  ) throws {
    let columns = ["--format", "csv", "--columns", "id,freshness,ttl,expires-at"]
    let expected = try withTimes(rows)
    #expect(try run(["list"] + columns, later).output == "id,freshness,ttl,expires_at\n" + expected)
    #expect(
      try run(["list", "--fresh", "--format", "csv", "--columns", "id"], later).output
        == "id\n" + fresh.split(separator: " ").map { "\($0)\n" }.joined())
    let usage = try run(["usage", "--by", "freshness", "--format", "csv"], later).output
    let counts = usage.split(separator: "\n").dropFirst().map { line in
      line.split(separator: ",").prefix(2).joined(separator: " ")
    }
    #expect(counts.sorted().joined(separator: ",") == groups)
    let purged = try run(["purge", "--stale", "--yes", "--no-verify"], later).removed
    #expect(purged == (later > 600 ? [.row(1), .row(3)] : []))
    let order = ["enforce", "--max-entries", "2", "--order", "stale-first", "--yes"]
    #expect(try run(order, later).removed.first == (later > 600 ? .row(1) : .row(3)))
    let status = try run(["explain", "1"], later).status
    #expect(status == (later > 600 ? .no : .done))
  }

  @Test func `a rule is given with its key and its seconds`() throws {
    let count = { (rule: [String], later: Double) in
      try run(
        ["list", "--stale", "--count"] + rule.flatMap { ["--user-info-expiry", $0] }, later
      ).output
    }
    #expect(try count([], 599) == "0\n")
    #expect(try count(["CustomURLCacheExpiration=30"], 30) == "0\n")
    #expect(try count(["CustomURLCacheExpiration=30"], 31) == "2\n")
    #expect(try count(["CustomURLCacheExpiration=5min"], 301) == "2\n")
    #expect(try count(["CustomURLCacheExpiration=7000"], 601) == "0\n")
    #expect(try count(["Cached Date=10"], 11) == "1\n")
    #expect(try count(["Cached Date=10", "CustomURLCacheExpiration=10"], 11) == "3\n")
    #expect(try count(["a=b=10"], 11) == "0\n")
  }

  @Test(arguments: ["", "key", "key=", "=5", "key=x", "key=-1", "key=99999999999999999999"])
  func `an invalid rule is refused`(_ rule: String) throws {
    let result = try run(["list", "--user-info-expiry", rule], 0)
    #expect(result.status == .usage)
    #expect(
      result.messages.contains(
        "'\(rule)' is not an expiry rule\nhint: use a key and a number of seconds, for example 'Cached Date=3600'\n"
      ))
  }

  @Test func `an explanation gives the reason for an expired entry once`() throws {
    for (id, rules) in [
      ("1", []), ("3", []), ("2", ["Cached Date=60"]), ("2", ["Cached Date=60", "Cached Date=90"]),
    ] as [(String, [String])] {
      let options = rules.flatMap { ["--user-info-expiry", $0] }
      let lines = try run(["explain", id] + options, 601).output.split(separator: "\n")
      let rule = id == "2" ? "Cached Date + 60 s" : "CustomURLCacheExpiration + 600 s"
      #expect(lines[1] == "  because it expired by the app's own rule: \(rule)")
      #expect(lines.count { $0.contains("because") } == 1)
    }
  }

  /// Replaces seconds at the ends of lines with times.
  private func withTimes(_ rows: String) throws -> String {
    rows.replacing("1760000601", with: "2025-10-09T09:03:21Z")
      .replacing("1760003600", with: "2025-10-09T09:53:20Z")
  }

  private func run(_ words: [String], _ later: Double) throws -> CommandLineResult {
    let stored = try #require(Timestamp(secondsSince1970: Self.stored))
    let responses = [
      (1, "max-age=3600", ["CustomURLCacheExpiration"]), (2, "max-age=3600", ["Cached Date"]),
      (3, "private", ["CustomURLCacheExpiration"]),
    ].map { (id: Int64, control: String, keys: [String]) in
      var response = StoredResponse(id: .row(id))
      response.stored = stored
      response.status = 200
      response.url = "https://a.example/"
      response.request.headers = HeaderFields()
      response.responseHeaders = HeaderFields([
        .init(name: "Cache-Control", value: ByteString(control))
      ])
      response.userInfo = keys.map { .init(key: ByteString($0), value: .date(stored)) }
      return response
    }
    let now = try #require(Timestamp(secondsSince1970: Self.stored + later))
    return CommandLineResult.running(
      [words[0], "-c", "memory"] + words.dropFirst(), on: MemoryStore(responses), now: now)
  }
}
