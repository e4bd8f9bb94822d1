@testable import AdminCommands
import ArgumentParser
import Bytes
import ResponseStorage
import TestSupport
import Testing

/// Runs what people type before they read the help: each command line works, or fails with a useful hint.
@Suite struct FirstGuessTests {
  // MARK: The cache as the first operand

  @Test(
    arguments: [
      // A path that exists, and a name from the configuration.
      (["list", "/tmp"], 3), (["list", "shop"], 3), (["list", "shop", "1"], 1),
      (["list", "/tmp", "https://a.example/1"], 1), (["list", "--count", "shop", "--", "1"], 1),
      (["list", "-c", "shop", "1"], 1), (["-c", "shop", "list", "1"], 1),
      (["list", "--prefix", "https://a.example/1", "/tmp"], 1),
    ] as [([String], Int)])
  func `the first operand of list is the cache`(_ words: [String], _ count: Int) throws {
    let result = try run(words.contains("--count") ? words : words + ["--count"])
    #expect(result == CommandLineResult(status: .done, output: "\(count)\n"))
  }

  @Test(arguments: [
    ["usage"], ["check"], ["show", "1"], ["explain", "--all"], ["purge", "--all", "-n"],
    ["enforce", "--max-entries", "1", "-n"], ["compact", "-n"], ["rules", "test"], ["metrics"],
    ["body", "1"], ["export", "-o", "-"], ["report", "-o", "-"],
  ])
  func `each command on a cache takes it as the first operand`(_ words: [String]) throws {
    let verbs = words[0] == "rules" ? 2 : 1
    var line = words
    line.insert("/tmp", at: verbs)
    let (operand, option) = (try run(line), try run(words + ["-c", "/tmp"]))
    #expect(operand.status == option.status && operand.output == option.output, "\(operand)")
    // A store in memory cannot be exported.
    #expect(
      [.done, .no, .partly, .data].contains(operand.status) && operand.output != ""
        || words[0] == "export", "\(operand.messages)")
    #expect(operand.removed == [])
  }

  @Test(arguments: [
    (["check", "--repair", "/tmp", "-n"], ["check", "/tmp", "--repair", "-n"]),
    (["check", "-n", "--repair", "/tmp"], ["check", "-c", "/tmp", "--repair", "-n"]),
    (["list", "/tmp", "-n2"], ["list", "/tmp", "-n", "2"]),
    (["usage", "/tmp", "--by", "host", "-n1"], ["usage", "/tmp", "--by", "host", "--limit", "1"]),
  ])
  func `both spellings mean the same`(_ one: [String], _ other: [String]) throws {
    let result = try run(one)
    #expect(result == (try run(other)))
    #expect([.done, .no].contains(result.status) && result.output != "", "\(result)")
  }

  @Test func `a cache after '--repair' is a second one if there is a first`() throws {
    let result = try run(["check", "/tmp", "--repair", "/var"])
    #expect(
      result.messages.hasPrefix("error: there are two caches, '/tmp' and '/var'\n"), "\(result)")
  }

  @Test(
    arguments: [
      (
        ["list", "3"],
        """
        error: '3' could be a cache or the id of an entry
        hint: write '-c 3' for the cache, or '-- 3' for the entry

        """
      ),
      (
        ["list", "Sources"],
        """
        error: 'Sources' is both a configured cache and a file in this folder
        hint: write '-c Sources' for the configured cache, or './Sources' for the file

        """
      ),
      (
        ["list", "shpo"],
        """
        error: no cache 'shpo': no such file, and no cache of this name in the configuration
        hint: did you mean 'shop'?

        """
      ),
      (
        ["list", "a.example/1"],
        """
        error: no cache 'a.example/1': no such file
        hint: find caches with: urlcache-admin discover

        """
      ),
      (
        ["usage", "https://a.example/1"],
        """
        error: 'usage' takes a cache, but 'https://a.example/1' is not one
        hint: see what it takes with 'urlcache-admin usage --help'

        """
      ),
      (
        ["usage", "--", "/tmp"],
        """
        error: 'usage' takes a cache, but '/tmp' is not one
        hint: see what it takes with 'urlcache-admin usage --help'

        """
      ),
      (
        ["check", "-c", "shop", "/tmp"],
        """
        error: there are two caches, 'shop' and '/tmp'
        hint: name one cache, as the first operand or with '-c'

        """
      ),
      (
        ["list", "--", "/tmp"],
        """
        error: no cache given
        hint: name it as the first operand or with '-c'; find caches with: urlcache-admin discover

        """
      ),
      (
        ["body", "/tmp"],
        """
        error: no entry given
        hint: name its URL or id: urlcache-admin body /tmp 1

        """
      ),
    ] as [([String], String)])
  func `an operand that is not clearly the cache is refused`(
    _ words: [String], _ messages: String
  ) throws {
    #expect(
      try run(words)
        == CommandLineResult(
          status: messages.contains("no such file") ? .noInput : .usage, messages: messages))
  }

  @Test(arguments: ["/none/Cache.db", "./none", "none.db", "none.har", "none.tar.zst"])
  func `a path that does not exist is reported as a missing cache`(_ path: String) throws {
    let result = try CommandLineResult.running(["list", path], now: now())
    #expect(result.status == .noInput)
    #expect(result.messages.hasPrefix("error: no cache '\(path)': no such file"))
  }

  @Test func `the operand comes before the environment and the configured default`() throws {
    let missing = try CommandLineResult.running(
      ["list", "/tmp", "--wait", "0s"], now: now(),
      files: ["/etc/urlcache-admin/config.toml": "cache = 'shop'\n[caches.shop]\npath = '/shop'\n"],
      variables: ["URLCACHE_ADMIN_CACHE": "/variable"])
    #expect(missing.messages.hasPrefix("error: no cache '/tmp': no such file\n"))
    // A URL or an id is an entry of the default cache.
    for entry in ["1", "https://a.example/1"] {
      let result = try CommandLineResult.running(
        ["list", entry], now: now(), variables: ["URLCACHE_ADMIN_CACHE": "/variable"])
      #expect(result.messages.hasPrefix("error: no cache '/variable': no such file\n"))
    }
  }

  // MARK: Options

  @Test(
    arguments: [
      ([], 3), (["--older-than", "1mo"], 2), (["--older-than", "2mo"], 0),
      (["--newer-than", "1y"], 3), (["--larger-than", "1kb"], 2), (["--larger-than", "1KB"], 2),
      (["--smaller-than", "1kib"], 1), (["--larger-than", "1mb"], 0),
      (["--status", "400-499"], 1), (["--status", "200,400-499"], 3), (["--since", "30d"], 1),
      (["--since", "30days"], 1), (["--older-than", "5 weeks"], 2),
      (["--where", "age > '5 weeks' AND NOT status = 404"], 1),
      (["--where", "status = 404 or mime = image/png and not (age < 25days)"], 2),
      (["--since", "today"], 0), (["--stored-before", "yesterday"], 3),
      (["--stored-after", "1y"], 3), (["--stored-before", "30d"], 2), (["--mime", "image"], 2),
      (["--type", "image"], 2),
      (["--mime", "TEXT/"], 1), (["--host", "*"], nil),
    ] as [([String], Int?)])
  func `values can be written as people guess`(_ options: [String], _ count: Int?) throws {
    let result = try run(["list", "shop", "--count", "-q"] + options)
    guard let count else { return #expect(result.status == .usage) }
    #expect(result == CommandLineResult(status: .done, output: "\(count)\n"))
  }

  @Test(
    arguments: [
      (["--older-than", "90"], "has no unit. Write '90d' for days"),
      (["--older-than", "3m"], "could mean minutes or months\nhint: write '3min' or '3mo'\n"),
      (
        ["--header", "x-cache: HIT"],
        "does not name a header field\nhint: use 'NAME' or 'NAME=PATTERN'"
      ),
      (["--contains", ""], "'--contains' has an empty value"),
      (
        ["--grep", "x"],
        "'list' has no option '--grep'\nhint: did you mean: urlcache-admin list shop --contains x"
      ),
      (["--host", "*.*.example.com"], "is not a host"),
      (["--host", "exam*"], "is not a host"), (["--mime", "wasm"], "or '*/wasm' for all"),
      (["--mime", "/"], "is not a media type"), (["--status", "1000"], "is not a status"),
      (["--status", "499-400"], "is not a status"), (["--status=-5"], "is not a status"),
      (["--json", "--format", "csv"], "'--json' and '--format csv' cannot be combined."),
      (["--since", "soon"], "is not a time"), (["--verbose"], "unless '--quiet' is given"),
    ])
  func `a value that can match nothing is refused`(_ options: [String], _ message: String) throws {
    let result = try run(["list", "shop"] + options)
    #expect(result.status == .usage && result.output == "")
    #expect(result.messages.contains(message), "\(result.messages)")
  }

  @Test(arguments: [
    (["-f", "json"], ["--format", "json"]), (["--json"], ["--format", "json"]),
    (["-n", "2"], ["--limit", "2"]), (["--reverse"], ["--sort=-id"]),
    (["--sort", "size", "--reverse"], ["--sort=-size"]),
    (["--sort=-size", "--reverse", "-qn", "1"], ["--sort", "size", "--limit", "1", "-q"]),
    (["--format", "text"], ["--format", "table"]),
    (["--format", "jsonl"], ["--format", "ndjson"]), (["-f", "jsonl"], ["-f", "ndjson"]),
  ])
  func `a short option is the long one`(_ short: [String], _ long: [String]) throws {
    let result = try run(["list", "shop"] + short)
    #expect(try result == run(["list", "shop"] + long))
    #expect(result.status == .done && result.output != "")
  }

  @Test(arguments: [("domain", "host"), ("type", "mime"), ("content-type", "mime")])
  func `a group can be named as people guess`(_ guess: String, _ key: String) throws {
    let result = try run(["usage", "shop", "--by", guess, "--json"])
    #expect(try result == run(["usage", "shop", "--by", key, "--json"]))
    let group = key == "host" ? "a.example" : "image/png"
    #expect(result.status == .done && result.output.contains(group), "\(result)")
  }

  @Test func `a named day means its midnight, with a note`() throws {
    let result = try run(["list", "shop", "--since", "yesterday", "--count"])
    #expect(result.status == .done && result.output == "0\n")
    // The time zone is that of the machine, and midnight in UTC is another local day in half of them.
    #expect(result.messages.hasPrefix("note: reading yesterday as 2025-12-3"), "\(result)")
    #expect(result.messages.contains("T00:00:00"), "\(result)")
  }

  @Test func `all columns are shown but those of sidecar files`() throws {
    let result = try run(["list", "shop", "--columns", "all", "--format", "csv", "-q"])
    let header = try #require(result.output.split(separator: "\n").first).split(separator: ",")
    #expect(header.count > 30 && !header.contains("sidecar_etag") && header.contains("proto_props"))
  }

  @Test(arguments: ["purge", "enforce", "check", "compact", "expire", "rm"])
  func `a number after the dry run is not the id of an entry`(_ verb: String) throws {
    let result = try run([verb, "shop", "-n", "5"])
    #expect(result.status == .usage)
    #expect(
      result.messages.hasPrefix("error: '-n' is short for '--dry-run' here, and takes no number\n"))
    // An id before the option is an entry.
    #expect(try run(["purge", "shop", "1", "-n"]).status == .done)
  }

  @Test(arguments: ["--quiet", "-q"])
  func `quiet leaves out notes and summaries, and no errors`(_ option: String) throws {
    #expect(try run(["list", "shop"]).messages == "3 of 3 entries, 5.9 KiB\n")
    #expect(try run(["list", "shop", option]).messages == "")
    #expect(try run(["list", "shop", "--stored-after", "30d", option]).messages == "")
    #expect(try run(["list", "shop", "9", option]).messages == "error: no entry has the id 9\n")
    #expect(try run(["list", "shop", "--bad", option]).messages.hasPrefix("error: "))
    for words in [["discover", "/tmp"], ["config", "list"], ["pin"]] {
      #expect(try run(words + [option]).status == .done)
      #expect(try run(words + [option]).messages == "")
    }
  }

  @Test func `an error is JSON with the short options too`() throws {
    for option in [["--json"], ["-f", "json"], ["-f", "csv", "--format", "json"]] {
      #expect(try run(["list", "none/x"] + option).messages.hasPrefix("{"), "\(option)")
      #expect(try run(["list", "--bad"] + option).messages.hasPrefix("{"), "\(option)")
    }
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func `the completion script is written`(_ shell: String) throws {
    let result = try run(["completion", shell])
    #expect(result.status == .done && result.messages == "")
    #expect(result.output.utf8.count > 10_000)
    #expect(result.output.contains("urlcache-admin"))
  }

  private func now() throws -> Timestamp { try GuessedCommandLine.now() }

  private func run(_ words: [String]) throws -> CommandLineResult {
    try GuessedCommandLine.run(words)
  }
}
