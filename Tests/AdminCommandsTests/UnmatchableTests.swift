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
        "host", "*.*.x.org", "is not a host",
        "use a host, or '.example.com' for a host and its subdomains; 'glob' matches whole URLs against a pattern"
      ),
      (
        "host", "*.", "is not a host", "use a host, or '.example.com' for a host and its subdomains"
      ),
      (
        "host", "a*b", "is not a host",
        "use a host, or '.example.com' for a host and its subdomains; 'glob' matches whole URLs against a pattern"
      ),
      ("host", "https://X.org:8080/y", "is a URL or a path, not a host", "use 'x.org'"),
      ("host", "x.org/", "is a URL or a path, not a host", "use 'x.org'"),
      ("host", "x.org:443", "has a port, which is not part of the host", "use 'x.org'"),
      ("host", "[::1]", "has brackets, which are not part of the host", "use '::1'"),
      ("host", ".", "is not a host", "use a host, or '.example.com' for a host and its subdomains"),
      (
        "mime", "wasm", "is not a media type",
        "write a type such as 'image' or 'text/html', or '*/wasm' for all with that subtype"
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
        "use one method such as 'GET'; repeat the option for several"
      ),
      (
        "prefix", "x.org/a", "has no scheme, so no URL starts with it",
        "use 'https://x.org/a', or 'host' or 'glob'"
      ),
      (
        "prefix", "//x.org", "has no scheme, so no URL starts with it",
        "use 'https://x.org', or 'host' or 'glob'"
      ),
      (
        "glob", "x.org/*.png", "has no scheme, so it matches no whole URL",
        "use '*x.org/*.png', or start with 'https://'"
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
        : "'--\(name)': '\(value)' \(reason)\nhint: \(hint)\n"
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
      "error: '--partition': '' is not a partition\nhint: use a site such as 'https://example.com'\n"
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
      ["--larger-than", "1MiB", "--smaller-than", "5MiB"],
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
        "host in (a, \"*..x.org\")", "'*..x.org' is not a host",
        "use a host, or '.example.com' for a host and its subdomains"
      ),
      (
        "host ^= \"a*b\"", "'a*b' contains '*', which no host does",
        "remove the '*'"
      ),
      (
        "mime = image", "'image' is not a complete media type",
        "use '^=' to match the beginning, for example 'mime ^= \"image/\"'"
      ),
      (
        "mime = json", "'json' is not a complete media type",
        "use '$=' to match the end, for example 'mime $= \"/json\"'"
      ),
      (
        "mime in (\"text/css\", \"image/*\")",
        "'image/*' contains '*', which no media type does",
        "use '^=' to match the beginning, for example 'mime ^= \"image/\"'"
      ),
      (
        "host = \"x.org:443\"", "'x.org:443' has a port, which is not part of the host",
        "use 'x.org'"
      ),
    ])
  func `an expression that matches nothing is refused with the right spelling`(
    _ expression: String, _ message: String, _ hint: String
  ) {
    let result = CommandLineResult.running(
      ["list", "-c", "memory", "--where", expression], on: MemoryStore([]), now: now)
    #expect(result.status == .usage)
    #expect(
      result.messages.hasPrefix(
        "error: cannot parse the expression given with '--where': \(message)\n")
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
          messages: "note: 'x.org' is the start of a scheme, not of a host; use "
            + "'https://x.org' for a host\n"))
  }

  @Test(
    arguments: [
      (
        ["--older-than", "30d", "--newer-than", "10d"],
        "no entry can be both older than 'older-than' and newer than 'newer-than'"
      ),
      (
        ["--stored-before", "2025-01-01T00:00:00Z", "--since", "2025-01-01T00:00:00Z"],
        "no entry can be stored both before 'stored-before' and after 'stored-after'"
      ),
      (
        ["--older-than", "30d", "--since", "2025-10-01T00:00:00Z"],
        "the options for ages and times contradict each other"
      ),
      (
        ["--larger-than", "5MiB", "--smaller-than", "1MiB"],
        "no body can be both larger than 'larger-than' and smaller than 'smaller-than'"
      ),
      (
        ["--larger-than", "5", "--smaller-than", "6"],
        "no body can be both larger than 'larger-than' and smaller than 'smaller-than'"
      ),
      (["--smaller-than", "0"], "no body is smaller than 0 bytes"),
      (["--body", "missing", "--larger-than", "1"], "a missing body has no size"),
      (
        ["--stale", "--expires-within", "1h"],
        "'expires-within' selects only fresh entries"
      ),
    ])
  func `criteria that cannot be combined are refused`(_ options: [String], _ message: String) {
    let result = CommandLineResult.running(
      ["list", "-c", "memory"] + options, on: MemoryStore([]), now: now)
    #expect(result.status == .usage)
    #expect(result.messages.hasPrefix("error: \(message)\nhint: "), "\(result.messages)")
  }

  @Test func `a rule whose criteria cannot be combined is refused`() {
    let text =
      "[[rules]]\naction = \"purge\"\nmatch = { larger-than = \"5M\", smaller-than = \"1M\" }\n"
    let result = CommandLineResult.running(
      ["--config", "/c", "config", "check"], on: MemoryStore([]), now: now, files: ["/c": text])
    #expect(
      result.messages.contains("no body can be both larger than 'larger-than' and smaller than"),
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
            + "hint: similar: 'https://a.example/x?page=1'; find out why with: \(command)\n"
          : "error: no entry has the URL '\(url)'\n  similar: 'https://a.example/x?page=1'\n"
            + "hint: find out why with: \(command)\n"), "\(result.messages)")
  }

  @Test func `a command about a URL with a secret does not show it`() {
    let result = CommandLineResult.running(
      ["show", "-c", "memory", "https://a.example/?token=t0ps3cret"], on: MemoryStore([]), now: now)
    #expect(
      result.messages
        == "error: no entry has the URL 'https://a.example/?token=***'\n"
        + "hint: find out why with: urlcache-admin explain -c memory --why-missing URL\n")
  }

  @Test(
    arguments: [
      (["--by", "age"], "'--by age' works only on a single cache, without '--all-under'."),
      (["--by", "class"], "'--by class' works only on a single cache, without '--all-under'."),
      (["--limit", "1"], "'--limit' is the number of groups: with '--all-under' it needs '--by'."),
      (
        ["--savings", "--histogram"],
        "'--all-under' adds up whole caches and cannot be combined with '--histogram', '--savings'."
      ),
      (["--format", "csv"], "'--all-under' writes csv and tsv only with '--by'."),
    ])
  func `the conflicting option is named`(_ options: [String], _ message: String) {
    let result = CommandLineResult.running(["usage", "--all-under", "/"] + options, now: now)
    #expect(result.status == .usage)
    #expect(result.messages.hasPrefix("error: \(message)\n"), "\(result.messages)")
  }
}
