@testable import AdminCommands
import ArgumentParser
import Bytes
import ResponseStorage
import TestSupport
import Testing

/// Runs complete command lines in this process.
@Suite struct CommandLineTests {
  private let now: Timestamp

  init() throws {
    // 2026-01-01T00:00:00Z
    now = try #require(Timestamp(secondsSince1970: 1_767_225_600))
  }

  @Test func `a missing verb is a usage error with the help`() {
    let result = run([])
    #expect(
      result
        == CommandLineResult(
          status: .usage,
          messages: "error: no command given\n\n\(BriefHelp.root)\n"))
  }

  @Test(arguments: [
    ("lst", "did you mean 'list'?"), ("sohw", "did you mean 'show'?"),
    ("usages", "did you mean 'usage'?"), ("purgee", "did you mean 'purge'?"),
    ("dv", "list the commands with 'urlcache-admin --help'"),
    ("explode", "list the commands with 'urlcache-admin --help'"),
    ("fimd", "list the commands with 'urlcache-admin --help'"),
    ("Cache.db", "name a command first: 'urlcache-admin list Cache.db'"),
  ])
  func `an unknown verb gets a suggestion`(_ verb: String, _ hint: String) {
    #expect(
      run(["-c", "memory", verb])
        == CommandLineResult(
          status: .usage, messages: "error: unknown command '\(verb)'\nhint: \(hint)\n"))
    // `help` on the command prints the same.
    #expect(run(["help", verb]) == run([verb]))
  }

  private static let verbs = [
    "list", "show", "body", "usage", "explain", "discover", "diff", "report", "query", "grep",
    "watch", "audit", "purge",
    "enforce",
    "compact", "revalidate", "expire", "sample", "pin", "unpin", "apply", "check", "recover",
    "export",
    "import",
    "metrics", "rules test", "config list", "config check", "config set", "config unset",
  ]

  @Test func `the help of each command fits 80 columns`() {
    let help = Self.verbs.map { ["help"] + $0.split(separator: " ").map(String.init) }
    for words in [["--help"]] + help {
      let result = run(words)
      #expect(result.status == .done)
      let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines.filter { $0.unicodeScalars.count > 80 } == [], "\(words)")
      // The manual pages have the exit statuses.
      #expect(!result.output.contains("EXIT STATUS"))
    }
    #expect(
      run(["help", "purge"]).output.hasPrefix(
        """
        OVERVIEW: Remove entries, even while the app is running.

        Asks for confirmation unless you give '--yes'. Responses that the app has in
        memory stay there until it quits. Pinned entries are kept; see 'pin'.
        '--sidecars' also removes the ETag sidecar files of the URLs, unless another
        entry has the same URL.

        '--secure' overwrites body files before it removes them, rewrites the database
        and overwrites its log, and then searches the bytes of all files for the keys,
        URLs and bodies of the removed entries. It also removes orphans, and
        overwrites what earlier removals left behind. While an app is running, it does
        only what does not block the app, lists what may remain, and exits with
        status 3. It cannot reach blocks that an SSD has remapped, old blocks of a
        copy-on-write file system, snapshots, backups, or memory.

        In a Foundation cache, each entry is a file, and only regular files are
        removed. '--secure' and 'check --repair=orphans' remove files that URLCache
        does not see, such as those left by a crash. A URL selects the entry that the
        cache returns for it, even if the scheme or query differs; a note points that
        out.

        USAGE: urlcache-admin purge [<options>] [<cache>] [<entries> ...]

        """))
  }

  @Test func `the brief help has two examples and fits a terminal`() throws {
    #expect(Set(Self.verbs) == Set(BriefHelp.all.keys))
    for verb in Self.verbs {
      let words = verb.split(separator: " ").map(String.init)
      let result = run(words + ["-h"])
      #expect(result.status == .done && result.messages == "")
      #expect(run(["-c", "shop"] + words + ["-h"]).output == result.output)
      let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false)
      #expect((9...32).contains(lines.count), "\(verb): \(lines.count)")
      #expect(lines.filter { $0.unicodeScalars.count > 80 } == [], "\(verb)")
      let brief = try #require(BriefHelp.all[verb])
      // Each option is found in the full help.
      for option in brief.options {
        #expect(lines.contains { $0.hasPrefix("  ") && $0.contains(option) }, "\(verb) \(option)")
      }
      #expect(brief.examples.count == 2)
      for example in brief.examples {
        // A quoted word with a space stays one word.
        let words = example.replacing("'Cached Date'", with: "Cached-Date")
          .split(separator: " ").map(String.init)
        #expect(throws: Never.self, "\(example)") { _ = try URLCacheAdmin.parseAsRoot(words) }
      }
    }
    let root = run(["-h"])
    #expect(root.output == BriefHelp.root)
    #expect(root.output.split(separator: "\n").count < 25)
    for verb in Self.verbs {
      #expect(root.output.contains(verb.split(separator: " ")[0]), "\(verb)")
    }
    #expect(root.output.split(separator: "\n").allSatisfy { $0.unicodeScalars.count <= 80 })
    // `-h` is a value, or an operand after `--`.
    #expect(run(["list", "-c", "memory", "--", "-h"]).status == .usage)
  }

  @Test(arguments: [
    (
      ["list"],
      "no cache given\nhint: name it as the first operand or with '-c'; find caches with:"
        + " urlcache-admin discover"
    ),
    (
      ["list", "-c", "memory", "Cache.db"],
      "'Cache.db' is neither a URL nor an id\nhint: for a part of a URL use '--glob' or '--prefix';"
        + " a cache is the first operand, or follows '-c'"
    ),
    (
      ["list", "-c", "memory", "--glob", "[a"],
      "'--glob': '[a' has a '[' without a matching ']'\nhint: use '\\[' for a literal bracket"
    ),
    (
      ["list", "-c", "memory", "--age-basis", "used"],
      "'--age-basis': 'used' is not an age basis\nhint: use one of: stored, first-stored, date,"
        + " last-modified, user-info:KEY"
    ),
    (
      ["usage", "-c", "memory", "--fail-above", "90%"],
      "'--fail-above' is a percentage of the capacity, which is unknown\nhint: give it with"
        + " '--capacity SIZE', or set 'capacity' in the configuration"
    ),
    (
      ["show", "-c", "memory"],
      "no entries selected\nhint: give URLs or ids: 'urlcache-admin show -c PATH ID'"
    ),
    (
      ["show", "-c", "memory", "1", "--raw-plist", "x"],
      "entries have no property list 'x'\nhint: use one of: "
    ),
  ])
  func `a usage error has one hint`(
    _ words: [String], _ message: String
  ) {
    #expect(run(words) == CommandLineResult(status: .usage, messages: "error: \(message)\n"))
  }

  @Test(arguments: [
    (["list", "--limit=-1"], "'--limit' cannot be less than zero."),
    (["usage", "--limit=-1"], "'--limit' cannot be less than zero."),
    (["usage", "--capacity", "0"], "'--capacity' must be more than zero."),
    (
      ["usage", "--by", "size", "--limit", "1"],
      "'--limit' cannot be combined with ranges of age or size."
    ),
    (
      ["usage", "--histogram", "--format", "csv"],
      "'--histogram' supports only '--format table' and 'json'."
    ),
    (
      ["usage", "-c", "x", "--all-under", "y"],
      "'--all-under' adds up all caches below a folder, and takes no cache."
    ),
    (["export", "-o", "x", "--redact-header", ""], "'--redact-header' needs a name."),
    (
      ["export", "-o", "x", "--redact-header", "X-A,X B"],
      "'--redact-header': 'x b' is not a header field name."
    ),
  ])
  func `a parser error says where the options are`(_ words: [String], _ message: String) {
    let result = run(words)
    #expect(result.status == .usage)
    #expect(result.output == "")
    #expect(
      result.messages
        == "error: \(message)\nhint: list its options with 'urlcache-admin \(words[0]) --help'\n")
  }

  @Test func `ages are those at the time of the environment variable, unless --at sets another`() {
    // The stored ages are 1, 10, 40 and 50 days now, and 35 days more at the later time.
    let later = "2026-02-05T00:00:00Z"
    let count = { (options: [String], variable: String?) in
      CommandLineResult.running(
        ["list", "-c", "memory", "--older-than", "44d", "--count"] + options, on: store, now: now,
        variables: variable.map { ["URLCACHE_ADMIN_AT": $0] } ?? [:]
      ).output
    }
    #expect(count([], nil) == "1\n")
    #expect(count([], "") == "1\n")
    #expect(count([], later) == "3\n")
    #expect(count(["--at", "2026-01-01T00:00:00Z"], later) == "1\n")
  }

  @Test func `a wrong time in the environment is refused`() {
    let result = CommandLineResult.running(
      ["purge", "-c", "memory", "--all", "--yes"], on: store, now: now,
      variables: ["URLCACHE_ADMIN_AT": "tomorrow"])
    #expect(result.status == .configuration && result.removed.isEmpty)
    #expect(
      result.messages.hasPrefix(
        "error: invalid value of the environment variable URLCACHE_ADMIN_AT: 'tomorrow' is not a time\n"
      ))
  }

  @Test func `a usage error with JSON output is JSON`() {
    #expect(
      run(["list", "--format", "json"])
        == CommandLineResult(
          status: .usage,
          messages: #"{"schema":"urlcache-admin.error/1","code":64,"kind":"usage","#
            + #""message":"no cache given","hint":"name it as the first operand or "#
            + #"with '-c'; find caches with: urlcache-admin discover","path":null}"# + "\n"))
  }

  @Test func `a missing cache is reported`() {
    #expect(
      CommandLineResult.running(["list", "-c", "gone"], now: now)
        == CommandLineResult(
          status: .noInput,
          messages: "error: no cache 'gone': no such file, and no cache of this name in the"
            + " configuration\nhint: find caches with: urlcache-admin discover\n"))
  }

  @Test(
    arguments: [
      ([], 5), (["--status", "4xx"], 1), (["--limit", "3"], 3),
      (["--host", ".example.com", "--status", "200"], 2), (["--larger-than", "1KiB"], 2),
      (["1", "https://b.example.com/2"], 2), (["1", "--id", "2", "--status", "404"], 1),
      (["--url-file", "-"], 2), (["--url-file", "-", "1"], 2), (["--url-file", "-", "3"], 3),
    ] as [([String], Int)])
  func `a count is one number`(_ options: [String], _ count: Int) {
    let input = Array("https://a.example.com/1\r\n\nHTTPS://B.example.com:443/2\n".utf8)
    #expect(
      run(["list", "-c", "memory", "--count"] + options, input: input)
        == CommandLineResult(status: .done, output: "\(count)\n"))
  }

  @Test func `entries of unknown age are counted in a note`() {
    #expect(
      run(["list", "-c", "memory", "--count", "--newer-than", "30d"])
        == CommandLineResult(
          status: .done, output: "2\n",
          messages: "note: entries not selected because their age is unknown: 1\n"))
  }

  @Test(arguments: [
    (["--fresh"], 1, 3), (["--stale", "--fresh"], 2, 3), (["--no-lifetime"], 0, 3),
    (["--stale", "--at", "2025-12-22T00:00:59Z"], 0, 3), (["--expires-within", "31d"], 1, 3),
    (["--expires-within", "1s"], 0, 3), (["--validator", "etag", "--validator", "none"], 2, 3),
    (["--validator", "strong"], 1, 3), (["--stale", "--status", "4xx"], 1, 0),
  ])
  func `entries are selected by freshness, and unknown ones are counted in a note`(
    _ options: [String], _ count: Int, _ unknown: Int
  ) {
    var responses = store.responses
    for (index, value) in ["max-age=2678400", "max-age=60"].enumerated() {
      responses[index].responseHeaders = HeaderFields([
        .init(name: "Cache-Control", value: ByteString(value)),
        .init(name: "ETag", value: index == 0 ? "\"a\"" : ""),
      ])
    }
    let note = "note: entries not selected because their freshness is unknown: \(unknown)\n"
    #expect(
      CommandLineResult.running(
        ["list", "-c", "memory", "--count"] + options, on: MemoryStore(responses), now: now)
        == CommandLineResult(
          status: .done, output: "\(count)\n", messages: unknown == 0 ? "" : note))
  }

  @Test(
    arguments: [
      ([], "5 of 5 entries, 4.0 KiB", 5), (["--status", "200"], "4 of 5 entries, 2.0 KiB", 4),
      (["--limit", "2"], "2 shown of 5 entries; 4.0 KiB shown", 5),
      (["--limit", "5"], "5 of 5 entries, 4.0 KiB", 5),
      (["--status", "200", "--limit", "1"], "1 shown of 4 selected, 5 in all; 2.0 KiB shown", 4),
      (["--status", "200", "--limit", "9"], "4 of 5 entries, 2.0 KiB", 4),
      (["--status", "200", "--limit", "0"], "0 shown of 4 selected, 5 in all; 0 B shown", 4),
      (
        ["--status", "200", "--limit", "1", "--sort", "-id"],
        "1 shown of 4 selected, 5 in all; 10 B shown", 4
      ),
      (["--limit", "1", "--sort", "id"], "1 shown of 5 entries; 2.0 KiB shown", 5),
      (["--limit", "1", "2", "3"], "1 shown of 2 selected, 5 in all; 2.0 KiB shown", 2),
    ] as [([String], String, Int)])
  func `the last line counts the selected entries`(
    _ options: [String], _ message: String, _ selected: Int
  ) {
    for format in ["table", "ndjson", "json"] {
      let result = run(["list", "-c", "memory", "--format", format] + options)
      #expect(result.messages == message + "\n", "\(format)")
      guard format == "json" else { continue }
      #expect(result.output.contains("\"selected\":\(selected),\"total\":5,"))
    }
  }

  @Test func `undecided entries are counted beyond the limit`() {
    let result = run(["list", "-c", "memory", "--newer-than", "30d", "--limit", "1"])
    #expect(
      result.messages
        == "1 shown of 2 selected, 5 in all; 2.0 KiB shown\n"
        + "note: entries not selected because their age is unknown: 1\n")
  }

  @Test(arguments: ["last-modified", "date"])
  func `entries are sorted by a date that no column shows`(_ column: String) throws {
    let dates = ["Thu, 09 Oct 2025 08:00:00 GMT", "Tue, 07 Oct 2025 08:00:00 GMT", nil]
    let responses = dates.enumerated().map { index, date in
      var response = StoredResponse(id: .row(Int64(index + 1)))
      response.stored = now
      let name = ByteString(column == "date" ? "Date" : "Last-Modified")
      response.responseHeaders = HeaderFields(
        date.map { [.init(name: name, value: ByteString($0))] } ?? [])
      return response
    }
    for (order, ids) in [(column, "3\n2\n1\n"), ("-" + column, "1\n2\n3\n")] {
      #expect(
        CommandLineResult.running(
          ["list", "-c", "memory", "--columns", "id", "--format", "csv", "--sort=" + order],
          on: MemoryStore(responses), now: now
        ).output == "id\n" + ids)
    }
  }

  @Test(arguments: ["urls", "ncdu"])
  func `a format without columns accepts none`(_ format: String) {
    let result = run(["list", "-c", "memory", "--format", format, "--columns", "id"])
    #expect(result.status == .usage)
    #expect(
      result.messages.hasPrefix(
        "error: '--format \(format)' and '--columns' cannot be combined.\n"))
  }

  @Test(arguments: [[], ["--limit", "1"], ["--limit", "0"], ["--sort", "url", "--limit", "1"]])
  func `every missing named entry is reported whatever the limit`(_ options: [String]) {
    let result = run(
      ["list", "-c", "memory", "--format", "urls", "9", "1", "https://n.example/?token=t"]
        + options)
    #expect(result.status == .no)
    #expect(result.output == (options.contains("0") ? "" : "https://a.example.com/1\n"))
    #expect(
      result.messages
        == (options.contains("0")
          ? "0 shown of 1 selected, 5 in all; 0 B shown\n" : "1 of 5 entries, 2.0 KiB\n")
        + "error: no entry has the id 9\nerror: no entry has the URL 'https://n.example/?token=***'\n"
    )
  }

  @Test func `an empty list of URLs selects no entry`() {
    #expect(
      run(["list", "-c", "memory", "--count", "--url-file", "-"])
        == CommandLineResult(status: .done, output: "0\n"))
  }

  @Test(arguments: [("90", 1), ("100%", 0), ("99.99%", 1), ("1e9", 0)])
  func `exceeding the permitted share exits with the answer no`(_ share: String, _ status: Int32) {
    var store = store
    store.size.databaseBytes = ByteCount(5 << 20)
    let words = ["-c", "memory", "--capacity", "5MiB", "--fail-above", share, "--format", "tsv"]
    #expect(
      CommandLineResult.running(["usage"] + words, on: store, now: now)
        == CommandLineResult(
          status: status == 1 ? .no : .done, output: "key\tentries\tbytes\n",
          messages: status == 1
            ? "the cache uses more of the capacity than '--fail-above' allows\n" : ""))
  }

  @Test(
    arguments: [
      ("5MiB", .apple, ""),
      (
        "5242879", .apple,
        "note: with a capacity below 5 MiB, CFNetwork does not write the cache to disk\n"
      ),
      (
        "40960", .apple,
        "note: with a capacity below 5 MiB, CFNetwork does not write the cache to disk\n"
      ),
      (
        "40959", .apple,
        """
        note: with a capacity below 5 MiB, CFNetwork does not write the cache to disk
        note: 2 bodies are larger than 5% of the capacity (2.0 KiB); CFNetwork does not store such bodies

        """
      ),
      ("40959", .foundation, ""),
    ] as [(String, StoreDescription.Format, String)])
  func `the meaning of the capacity to CFNetwork is reported`(
    _ capacity: String, _ format: StoreDescription.Format, _ messages: String
  ) {
    var store = store
    store.description = StoreDescription(
      path: "memory", format: format, schemaVersion: nil)
    #expect(
      CommandLineResult.running(
        ["usage", "-c", "memory", "--format", "csv", "--capacity", capacity], on: store, now: now)
        == CommandLineResult(status: .done, output: "key,entries,bytes\n", messages: messages))
  }

  @Test func `ranges are not truncated in a table`() {
    let sizes = [0] + (0..<11).map { ByteCount(1 << (2 * $0 + 6)) }
    let store = MemoryStore(
      sizes.enumerated().map { response(Int64($0), "https://a/", size: $1) })
    let result = CommandLineResult.running(
      ["usage", "-c", "memory", "--by", "size"], on: store, now: now)
    let rows = result.output.split(separator: "\n").drop { !$0.hasPrefix("SIZE ") }.dropFirst()
    #expect(rows.count == 11)
    #expect(rows.first?.hasPrefix("0 B ") == true)
    #expect(rows.last?.hasPrefix("64 MiB or more ") == true)
  }

  @Test func `sizes whose sum overflows do not trap`() {
    let store = MemoryStore((1...3).map { response($0, "https://a/\($0)", size: .max) })
    #expect(
      CommandLineResult.running(
        ["list", "-c", "memory", "--format", "urls"], on: store, now: now)
        == CommandLineResult(
          status: .done, output: "https://a/1\nhttps://a/2\nhttps://a/3\n",
          messages: "3 of 3 entries, 8.0 EiB\n"))
  }

  @Test(arguments: [
    (["--format", "urls"], "https://u:p@h/?token=t\n"),
    (["--format", "urls", "--redact-urls"], "https://***@h/?token=***\n"),
    (["--columns", "url"], "URL\nhttps://***@h/?token=***\n"),
    (["--columns", "url", "--show-secrets"], "URL\nhttps://u:p@h/?token=t\n"),
  ])
  func `URLs are masked in tables and on request`(_ options: [String], _ output: String) {
    let store = MemoryStore([response(1, "https://u:p@h/?token=t", size: 1)])
    let result = CommandLineResult.running(
      ["list", "-c", "memory"] + options, on: store, now: now)
    #expect(result.output == output)
  }

  @Test func `a body is written byte for byte`() {
    var store = MemoryStore([response(1, "https://a/", size: 3)])
    store.bodies = [.row(1): Array("a\r\n".utf8)]
    for name in ["1", "HTTPS://A:443/"] {
      #expect(
        CommandLineResult.running(["body", "-c", "memory", name], on: store, now: now)
          == CommandLineResult(status: .done, output: "a\r\n"))
    }
    #expect(
      CommandLineResult.running(["body", "-c", "memory", "https://b/"], on: store, now: now)
        == CommandLineResult(
          status: .no,
          messages: "error: no entry has the URL 'https://b/'\n"
            + "hint: find out why with: urlcache-admin explain -c memory --why-missing https://b/\n"
        ))
  }

  private func run(_ words: [String], input: [UInt8] = []) -> CommandLineResult {
    CommandLineResult.running(words, on: store, now: now, input: input)
  }

  /// Five entries, 1, 10, 40 and 50 days old and of unknown age, in files of 4 KiB.
  private var store: MemoryStore {
    var store = MemoryStore([
      response(1, "https://a.example.com/1", size: 2_048, days: 1),
      response(2, "https://b.example.com/2", status: 404, size: 2_048, days: 10),
      response(3, "https://c.example/3", size: 10, days: 40),
      response(4, "https://c.example/4", size: 10, days: 50),
      response(5, "https://example.com/5", size: 10),
    ])
    store.size.databaseBytes = 4_096
    return store
  }

  private func response(
    _ id: Int64, _ url: String, status: Int64 = 200, size: ByteCount, days: Double? = nil
  ) -> StoredResponse {
    var response = StoredResponse(id: .row(id))
    response.url = ByteString(url)
    response.key = ByteString(url)
    response.status = status
    response.bodySize = size
    response.bodyLocation = .inline
    response.stored = days.flatMap {
      Timestamp(secondsSince1970: now.secondsSince1970 - $0 * 86_400)
    }
    return response
  }
}
