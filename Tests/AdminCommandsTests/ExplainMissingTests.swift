import AdminCommands
import Bytes
import ResponseStorage
import TestSupport
import Testing

/// Runs complete command lines about responses that are not in a cache.
@Suite struct ExplainMissingTests {
  @Test(
    arguments: [
      ("may", "HTTP/1.1 200 OK\nCache-Control: max-age=60\n", [], .done),
      ("no-store", "HTTP/1.1 404 Not Found\nCache-Control: no-store\n", [], .no),
      (
        "status", "HTTP/2 404\nCache-Control: max-age=60\nContent-Length: 60000\n",
        ["--capacity", "1MB"], .no
      ),
      ("rfc9111", "HTTP/2 404\nCache-Control: max-age=60\n", ["--platform", "rfc9111"], .done),
      ("request", "HTTP/2 200\n", ["--request-header", "Cache-Control: no-store"], .no),
      ("foundation", "HTTP/2 200\nVary: Accept\n", ["--platform", "foundation"], .no),
      ("unknown", nil, [], .partly),
    ] as [(String, String?, [String], AdminCommands.ExitStatus)])
  func `a missing entry is explained`(
    _ name: String, _ head: String?, _ options: [String], _ status: AdminCommands.ExitStatus
  ) throws {
    let url = "https://u:p@api.example.com/v1?token=secret"
    let from = head == nil ? [] : ["--headers-from", "-"]
    let text = try run(["--why-missing", url] + from + options, head)
    let json = try run(["--why-missing", url, "--format", "json"] + from + options, head)
    #expect(text.status == status)
    #expect(json.status == status)
    #expect(text.messages + json.messages == "")
    try expectGolden(text.output + "\n" + json.output, named: "explain-missing.\(name).txt")
  }

  @Test func `an existing entry is not missing`() throws {
    let result = try run(
      ["--why-missing", "HTTPS://api.example.com:443/v1?page=2", "--capacity", "1MiB"], nil)
    #expect(result.status == .done)
    #expect(result.output.hasPrefix("PRESENT: an entry has this URL; run 'explain' on it\n"))
    #expect(result.output.contains("\nEntries              1\n"))
    // Rules of a capacity do not make a stored response a missing one.
    #expect(!result.output.contains("MISSING"))
  }

  @Test func `only HTTP is stored`() throws {
    let result = try run(["--why-missing", "ftp://api.example.com/v1"], nil)
    #expect(result.status == .no)
    #expect(
      result.output.contains("because only responses to http and https requests are stored\n"))
  }

  @Test(
    arguments: [
      (["--headers-from", "-", "1"], .usage, "'--headers-from' needs '--why-missing URL'."),
      (["--why-missing", "https://a.example/", "1"], .usage, "'--why-missing' takes one URL"),
      (["--why-missing", "a"], .usage, "'a' is not a URL"),
      (
        ["--why-missing", "https://a.example/", "--headers-from", "-"], .data, "'-' does not start"
      ),
      (
        ["--why-missing", "https://a.example/", "--headers-from", "/no/such"], .noInput, "/no/such"
      ),
    ] as [([String], AdminCommands.ExitStatus, String)])
  func `an invalid question is refused`(
    _ options: [String], _ status: AdminCommands.ExitStatus, _ message: String
  ) throws {
    let result = try run(options, "ETag: \"a\"\n")
    #expect(result.status == status)
    #expect(result.messages.contains(message), "\(result.messages)")
  }

  private func run(_ options: [String], _ input: String?) throws -> CommandLineResult {
    let now = try #require(Timestamp(secondsSince1970: 1_760_000_000))
    var response = StoredResponse(id: .row(1))
    response.url = "https://api.example.com/v1?page=2"
    response.key = response.url
    return CommandLineResult.running(
      ["explain", "-c", "memory"] + options, on: MemoryStore([response]), now: now,
      input: Array((input ?? "").utf8))
  }
}
