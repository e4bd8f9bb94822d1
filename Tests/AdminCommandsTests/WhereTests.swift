import AdminCommands
import Bytes
import ResponseStorage
import TestSupport
import Testing

/// Runs complete command lines with expressions.
@Suite struct WhereTests {
  @Test func `an error points at its location`() throws {
    let expressions = [
      "", " ", "hots ^= \"api.\"", "host ^ \"api\"", "host = \"api", "status < 4xx",
      "status in 404",
      "age = 7d", "age > 7m", "(host = a", "(host = a host = b)", "host = a b",
      "host = a xor size > 1",
      "host = a and and size > 1", "status not in (404)", "size > 1KiB && (((size < 12Q)))",
      "host = = a", "!!", "validator = weakish",
      "stored > yesterday", "host = a)", "status in (404,)", "status in (404", "status in ()",
      "mime = image/*", "url = \"a\\q\"", "size > 1 & x", "status = 404,500", "host", "host a",
      "= a",
      // The marker is aligned to the displayed text, not to its characters.
      "host = \"é\u{202E}\" || foo = 1", "host = \"漢字\" && x", "host = \"e\u{301}\"\u{301} = 1",
      "host = a\n\u{1B}[2J", "size > \u{7}", "size > \u{202E}",
      Array(repeating: "host = aaaaaaa", count: 40).joined(separator: " || ")
        + " || hst = 1 || host = b",
    ]
    let shown = try expressions.map { expression in
      let result = try run(["list", "--where", expression])
      #expect(result.status == .usage && result.output.isEmpty, "\(expression)")
      return result.messages
    }
    try expectGolden(shown.joined(separator: "\n"), named: "where-errors.txt")
  }

  @Test func `a day means its midnight, with a note`() throws {
    let result = try run(["list", "--where", "stored < 2026-01-31", "--count"])
    #expect(result.output == "1\n")
    #expect(result.messages.hasPrefix("note: reading 2026-01-31 as 2026-01-31T00:00:00"))
  }

  @Test func `an expression selects the entries for which it is true`() throws {
    #expect(
      try run(["purge", "--yes", "--no-verify", "--where", "status = 200"]).removed == [.row(1)])
    #expect(try run(["purge", "--yes", "--no-verify", "--where", "status == 404"]).removed == [])
    let unknown = try run(["purge", "--dry-run", "--where", "!(age < 1s && status = 200)"])
    #expect(unknown.messages == "note: entries not selected because their age is unknown: 1\n")
  }

  private func run(_ words: [String]) throws -> CommandLineResult {
    var response = StoredResponse(id: .row(1))
    response.status = 200
    response.stored = Timestamp(secondsSince1970: 1_760_000_000)
    var unknown = StoredResponse(id: .row(2))
    unknown.status = 200
    unknown.stored = nil
    let responses =
      words.contains("--dry-run") || words.contains("--count") ? [response, unknown] : [response]
    let now = try #require(Timestamp(secondsSince1970: 1_767_225_600))
    return CommandLineResult.running(
      words + ["-c", "memory"], on: MemoryStore(responses), now: now)
  }
}
