import Administration
import Bytes
import ResponseStorage
import TestSupport
import Testing

@testable import AdminCommands

/// Tests selections that can match nothing, and names that no entry has.
@Suite struct UnmatchableTests {
  private let now: Timestamp

  init() throws {
    now = try #require(Timestamp(secondsSince1970: 1_760_001_007))
  }

  @Test(
    arguments: [
      (
        "host", "*.x.org", "is a pattern, and no host has a '*'",
        "write '.x.org' for that host and all below it"
      ),
      (
        "host", "a*b", "is not a host",
        "write a host, or '.example.com' for that and all below it; 'glob' takes a pattern for whole URLs"
      ),
      ("host", "https://X.org:8080/y", "is a URL or a path, and not a host", "write 'x.org'"),
      ("host", "x.org/", "is a URL or a path, and not a host", "write 'x.org'"),
      ("host", "x.org:443", "has a port, and hosts are compared without one", "write 'x.org'"),
      ("host", "[::1]", "has brackets, which no host is compared with", "write '::1'"),
      ("host", ".", "is not a host", "write a host, or '.example.com' for that and all below it"),
      (
        "mime", "json", "is not a media type",
        "write a type such as 'image' or 'text/html', or '*/json' for all with that subtype"
      ),
      (
        "mime", "/", "is not a media type", "write a type such as 'image' or 'text/html'"
      ),
      (
        "status", "6xx", "is not a status",
        "write numbers up to 999, ranges such as '400-499', and classes from 1xx to 5xx,"
          + " for example '200,4xx'"
      ),
      (
        "status", "2000", "is not a status",
        "write numbers up to 999, ranges such as '400-499', and classes from 1xx to 5xx,"
          + " for example '200,4xx'"
      ),
      (
        "method", "GET,HEAD", "is not a method",
        "write one method, for example 'GET'; several options add up"
      ),
      (
        "prefix", "x.org/a", "begins no URL: it has no scheme",
        "write 'https://x.org/a', or use 'host' or 'glob'"
      ),
      (
        "prefix", "//x.org", "begins no URL: it has no scheme",
        "write 'https://x.org', or use 'host' or 'glob'"
      ),
      (
        "glob", "x.org/*.png", "matches no whole URL: it has no scheme",
        "write '*x.org/*.png', or begin with 'https://'"
      ),
    ])
  func `impossible values are refused with the right spelling`(
    _ name: String, _ value: String, _ reason: String, _ hint: String
  ) throws {
    for verb in [["list"], ["purge", "-n"]] {
      let result = CommandLineResult.running(
        verb + ["-c", "memory", "--\(name)=\(value)"], on: MemoryStore([]), now: now)
      #expect(result.status == .usage, "\(verb)")
      let isParsed = name == "status"
      let capital = hint.prefix(1).uppercased() + hint.dropFirst()
      let message =
        isParsed
        ? "'\(value)' \(reason). \(capital)."
        : "'\(value)' of '--\(name)' \(reason)\nhint: \(hint)\n"
      #expect(result.messages.contains(message), "\(result.messages)")
    }
    let text = "[[rules]]\naction = \"purge\"\nmatch = { \(name) = \"\(value)\" }\n"
    let result = CommandLineResult.running(
      ["--config", "/c", "config", "check"], on: MemoryStore([]), now: now, files: ["/c": text])
    #expect(
      result.messages.contains("'\(value)' \(reason)") && result.messages.contains(hint),
      "\(result)")
  }

  @Test func `a partition without a name is refused`() {
    let result = CommandLineResult.running(
      ["list", "-c", "memory", "--partition", ""], on: MemoryStore([]), now: now)
    let message =
      "error: '' of '--partition' is no partition\nhint: write a site, for example 'https://example.com'\n"
    #expect(result == CommandLineResult(status: .usage, messages: message))
  }

  @Test(
    arguments: [
      ["--host", "::1"], ["--host", ".x.org"], ["--host", "X.org."], ["--host", "münchen.example"],
      ["--mime", "image/*"], ["--mime", "*"], ["--mime", "image?png"], ["--status", "0,999,1xx"],
      ["--method", "M-SEARCH"], ["--prefix", "h"], ["--prefix", "https:"],
      [
        "--where", "host $= \".x.org\" || url *= \"x.org/\" || url ^= \"htt\" || mime ^= \"image\"",
      ],
      ["--glob", "*x"], ["--glob", "?ttp://x"], ["--glob", "http*"], ["--glob", "\\*"],
      ["--older-than", "10d", "--newer-than", "30d"],
      ["--larger-than", "1M", "--smaller-than", "5M"],
      ["--fresh", "--expires-within", "1h"],
      ["--body", "missing", "--body", "inline", "--larger-than", "1"],
    ])
  func `possible values are not refused`(_ options: [String]) {
    let result = CommandLineResult.running(
      ["list", "-c", "memory", "--count"] + options, on: MemoryStore([]), now: now)
    #expect(result == CommandLineResult(status: .done, output: "0\n"), "\(options)")
  }

  @Test(
    arguments: [
      (
        "host = \"*.x.org\"", "'*.x.org' is a pattern, and no host has a '*'",
        "write '.x.org' for that host and all below it"
      ),
      (
        "host in (a, \"*.x.org\")", "'*.x.org' is a pattern, and no host has a '*'",
        "write '.x.org' for that host and all below it"
      ),
      (
        "host ^= \"a*b\"", "'a*b' is a pattern, and no host has a '*'",
        "write the text without '*'"
      ),
      (
        "mime = image", "'image' is not a whole media type",
        "write '^=' and the beginning, for example 'mime ^= \"image/\"'"
      ),
      (
        "mime in (\"text/css\", \"image/*\")",
        "'image/*' is a pattern, and no media type has a '*'",
        "write '^=' and the beginning, for example 'mime ^= \"image/\"'"
      ),
      (
        "host = \"x.org:443\"", "'x.org:443' has a port, and hosts are compared without one",
        "write 'x.org'"
      ),
    ])
  func `an expression that matches nothing is refused with the right spelling`(
    _ expression: String, _ message: String, _ hint: String
  ) {
    let result = CommandLineResult.running(
      ["list", "-c", "memory", "--where", expression], on: MemoryStore([]), now: now)
    #expect(result.status == .usage)
    #expect(
      result.messages.hasPrefix("error: the expression of '--where' cannot be read: \(message)\n")
        && result.messages.hasSuffix("\nhint: \(hint)\n"), "\(result.messages)")
  }

  @Test(arguments: [
    ["--prefix", "x.org"], ["--glob", "x.org*"], ["--where", "url ^= \"x.org\""],
  ])
  func `a scheme prefix that looks like a host is noted`(_ options: [String]) {
    let result = CommandLineResult.running(
      ["list", "-c", "memory", "--count"] + options, on: MemoryStore([]), now: now)
    #expect(
      result
        == CommandLineResult(
          status: .done, output: "0\n",
          messages: "note: 'x.org' is the beginning of a scheme, and of no host; write "
            + "'https://x.org' for a host\n"))
  }

  @Test(
    arguments: [
      (
        ["--older-than", "30d", "--newer-than", "10d"],
        "no entry is both older than the age of 'older-than' and newer than that of 'newer-than'"
      ),
      (
        ["--stored-before", "2025-01-01T00:00:00Z", "--since", "2025-01-01T00:00:00Z"],
        "no entry is stored both before 'stored-before' and after 'stored-after'"
      ),
      (
        ["--older-than", "30d", "--since", "2025-10-01T00:00:00Z"],
        "no entry is both before and after what the options for ages and times say"
      ),
      (
        ["--larger-than", "5M", "--smaller-than", "1M"],
        "no body is both larger than 'larger-than' and smaller than 'smaller-than'"
      ),
      (
        ["--larger-than", "5", "--smaller-than", "6"],
        "no body is both larger than 'larger-than' and smaller than 'smaller-than'"
      ),
      (["--smaller-than", "0"], "no body is smaller than 0 bytes"),
      (["--body", "missing", "--larger-than", "1"], "a missing body has no size"),
      (
        ["--stale", "--expires-within", "1h"],
        "only fresh entries become stale: 'expires-within' selects no others"
      ),
    ])
  func `criteria that exclude each other are refused`(_ options: [String], _ message: String) {
    let result = CommandLineResult.running(
      ["list", "-c", "memory"] + options, on: MemoryStore([]), now: now)
    #expect(result.status == .usage)
    #expect(result.messages.hasPrefix("error: \(message)\nhint: "), "\(result.messages)")
  }

  @Test func `a rule whose criteria exclude each other is refused`() {
    let text =
      "[[rules]]\naction = \"purge\"\nmatch = { larger-than = \"5M\", smaller-than = \"1M\" }\n"
    let result = CommandLineResult.running(
      ["--config", "/c", "config", "check"], on: MemoryStore([]), now: now, files: ["/c": text])
    #expect(
      result.messages.contains("no body is both larger than 'larger-than' and smaller than"),
      "\(result)")
  }

  @Test(arguments: [["explain"], ["show"], ["body"], ["purge", "-n"]])
  func `a missing URL is reported with near misses and a hint`(
    _ verb: [String]
  ) {
    var response = StoredResponse(id: .row(1))
    response.url = "https://a.example/x?page=1"
    response.key = response.url
    let url = "https://a.example/x?page=2"
    let result = CommandLineResult.running(
      verb + ["-c", "memory", url], on: MemoryStore([response]), now: now)
    #expect(result.status == .no)
    let command = "urlcache-admin explain -c memory --why-missing '\(url)'"
    #expect(
      result.messages.hasSuffix(
        verb.count == 1 && verb != ["explain"]
          ? "error: no entry has the URL '\(url)'\n"
            + "hint: there is 'https://a.example/x?page=1'; see why with: \(command)\n"
          : "no entry has the URL '\(url)'\n  there is 'https://a.example/x?page=1'\n"
            + "hint: see why with: \(command)\n"), "\(result.messages)")
  }

  @Test func `a command about a URL with a secret does not show it`() {
    let result = CommandLineResult.running(
      ["show", "-c", "memory", "https://a.example/?token=t0ps3cret"], on: MemoryStore([]), now: now)
    #expect(
      result.messages
        == "error: no entry has the URL 'https://a.example/?token=***'\n"
        + "hint: see why with: urlcache-admin explain -c memory --why-missing URL\n")
  }

  @Test(
    arguments: [
      (["--by", "age"], "'--by age' is for one cache, and not for '--all-under'."),
      (["--by", "class"], "'--by class' is for one cache, and not for '--all-under'."),
      (["--limit", "1"], "'--limit' is the number of groups: with '--all-under' it needs '--by'."),
      (
        ["--savings", "--histogram"],
        "'--all-under' adds up whole caches, and does not take '--histogram', '--savings'."
      ),
      (["--format", "csv"], "'--all-under' writes csv and tsv only with '--by'."),
    ])
  func `the conflicting option is named`(_ options: [String], _ message: String) {
    let result = CommandLineResult.running(["usage", "--all-under", "/"] + options, now: now)
    #expect(result.status == .usage)
    #expect(result.messages.hasPrefix("error: \(message)\n"), "\(result.messages)")
  }
}
