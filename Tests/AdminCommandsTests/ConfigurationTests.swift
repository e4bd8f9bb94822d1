import AdminCommands
import ArgumentParser
import Bytes
import ResponseStorage
import TestSupport
import Testing

/// Runs complete command lines with configurations.
@Suite struct ConfigurationTests {
  private static let userFile = "/home/a/.config/urlcache-admin/config.toml"
  private static let systemFile = "/etc/urlcache-admin/config.toml"

  /// The sources of the maximum number of entries, and the number of entries that are kept.
  ///
  /// Each line removes the source that won in the line before.
  @Test(
    arguments: [
      (["--max-entries", "1"], ["URLCACHE_ADMIN_MAX_ENTRIES": "2"], [3, 4], [5, 6], 1),
      ([], ["URLCACHE_ADMIN_MAX_ENTRIES": "2"], [3, 4], [5, 6], 2), ([], [:], [3, 4], [5, 6], 3),
      ([], [:], [nil, 4], [5, 6], 4), ([], [:], [nil, nil], [5, 6], 5),
      ([], [:], [nil, nil], [nil, 6], 6),
      ([], ["URLCACHE_ADMIN_MAX_ENTRIES": ""], [nil, 4], [nil, nil], 4),
    ] as [([String], [String: String], [Int?], [Int?], Int)])
  func `options override variables, then the user's file, then the system's file`(
    _ options: [String], _ variables: [String: String], _ user: [Int?], _ system: [Int?],
    _ kept: Int
  ) throws {
    let file = { (limits: [Int?]) in
      (limits[1].map { "max-entries = \($0)\n" } ?? "") + "[caches.shop]\npath = '/shop'\n"
        + (limits[0].map { "max-entries = '\($0)'\n" } ?? "")
    }
    let result = try run(
      ["enforce", "--yes", "--no-verify", "-c", "shop"] + options, user: file(user),
      system: file(system), variables)
    #expect(result.removed.count == 10 - kept, "\(result)")
  }

  @Test func `a name resolves to the path of a cache, and a path to itself`() throws {
    let file = "cache = 'shop'\n[caches.shop]\npath = '~/shop'\n[caches.other]\npath = '/other'\n"
    for (words, path) in [
      ([], "/home/a/shop"), (["-c", "shop"], "/home/a/shop"), (["--cache=other"], "/other"),
      (["-c", "./shop"], "./shop"), (["-c", "nobody"], "nobody"),
    ] {
      let result = try run(["list"] + words, user: file, store: nil)
      #expect(result.messages.hasPrefix("error: no cache '\(path)': no such file"), "\(result)")
    }
    for (name, hint) in [
      ("shpo", "did you mean 'shop'?"), ("nobody", "configured names: shop, other"),
      (
        "./shpo",
        "find caches with: urlcache-admin discover"
      ),
    ] {
      let result = try run(["list", "-c", name], user: file, store: nil)
      #expect(
        result
          == CommandLineResult(
            status: .noInput,
            messages:
              "error: no cache '\(name)': no such file\(name.contains("/") ? "" : ", and no cache of this name in the configuration")\nhint: \(hint)\n"
          ))
    }
    let moved = try run(["--config", "/x", "-c", "shop", "list"], user: "", store: nil)
    #expect(moved.status == .noInput)
    #expect(moved.messages.hasPrefix("error: no configuration file '/x'\n"))
  }

  @Test func `a command runs for each cache that has a name, also after a failure`() throws {
    let file = "[caches.a]\npath = '/a'\n[caches.b]\npath = '/b'\nmax-entries = 9\n"
    let listed = try run(["list", "--all-caches", "--count"], user: file)
    #expect(
      listed
        == CommandLineResult(
          status: .done, output: "10\n10\n", messages: "note: cache 'a'\nnote: cache 'b'\n"))
    let failed = try run(["list", "--all-caches"], user: file, store: nil)
    #expect(failed.status == .noInput)
    #expect(failed.messages.split(separator: "\n").filter { $0.hasPrefix("error") }.count == 2)
    // One cache has no limit and is skipped.
    let enforced = try run(["enforce", "--all-caches", "--yes", "--no-verify"], user: file)
    #expect(enforced.status == .done)
    #expect(enforced.removed == [.row(1)])
    #expect(
      enforced.messages.hasPrefix(
        "note: skipped 'a': no limits and no rules are configured\n"))
    // Without a terminal, the name of a cache stands above its receipt.
    #expect(enforced.output.hasPrefix("Cache 'a'\nCache 'b'\n"))
    let without = try run(
      ["enforce", "--all-caches", "--yes"], user: "[caches.a]\npath = '/a'\n")
    #expect(without.status == .usage)
    #expect(
      without.messages.hasPrefix(
        "note: skipped 'a': no limits and no rules are configured\nerror: no limit given"
      ))
    for words in [
      ["list", "-c", "a"], ["apply", "plan"], ["diff", "a", "b"], ["import", "a"],
      ["report", "-o", "-"],
    ] {
      #expect(try run(words + ["--all-caches"], user: file).status == .usage)
    }
    #expect(try run(["list", "--all-caches"], user: "").status == .configuration)
  }

  @Test func `settings reach the commands that have their option, and no others`() throws {
    let file = """
      cache = "/shop"
      wait = "1s"
      max-delete = "10%"
      capacity = "1MiB"
      only-if-over = true
      max-entries = 1
      """
    for words in [
      ["list"], ["usage"], ["usage", "--all-under", "/x"], ["check"], ["explain", "--all"],
      ["enforce", "-n", "--max-delete", "100%"],
    ] {
      let result = try run(words, user: file)
      #expect([.done, .no, .partly].contains(result.status), "\(words) \(result)")
    }
    let report = try run(["report", "-o", "-", "--format", "markdown"], user: file)
    #expect(report.output.contains(" of 1.0 MiB used."), "\(report)")
    for words in [["purge", "--where", "status = 200"], ["enforce"], ["check", "--repair"]] {
      let result = try run(words + ["--yes", "--no-verify"], user: file)
      let isRefused = result.messages.contains("more than '--max-delete' allows")
      #expect(isRefused || words[0] == "check", "\(words) \(result)")
    }
  }

  @Test func `an error is refused with its location`() throws {
    let files = [
      "wiat = \"10s\"", "max-age = \"1m\"", "low = \"120%\"", "order = [\"oldest\", \"newest\"]",
      "max-entries = -1", "max-entries = true", "capacity = 0", "max-delete = \"many\"",
      "cache = \"\"",
      "wait = { a = 1 }", "order = [1]", "max-size = 1.5", "caches = 1", "[caches]\nshop = 1",
      "[caches.\"a b\"]\npath = \"/x\"", "[caches.-x]", "[caches.shop]\npath = \"relative\"",
      "[caches.shop]\npath = 1", "[caches.shop]\npth = \"/x\"", "[caches.shop]\ncache = \"x\"",
      "a = \"é\u{202E}\" x", "\"é\u{1B}\" = 1", "wait = \"1s\"\nwait = \"2s\"",
      "x = \"\u{202E}\"\n\n\n",
      "# fine\n\n  nothing =  \"x\"  # here\nmax-siz = 1\n", "only-if-over = 1",
    ]
    let shown = try files.map { file in
      let result = try run(["config", "check"], user: file)
      #expect(result.status == .configuration && result.output == "", "\(file)")
      let other = try run(["list", "-c", "shop"], user: file)
      #expect(other.status == .configuration && result.messages.hasPrefix(other.messages))
      return result.messages
    }
    try expectGolden(shown.joined(separator: "\n"), named: "configuration-errors.txt")
    for variable in ["WAIT", "MAX_AGE", "MAX_SIZE", "LOW", "ORDER", "MAX_DELETE", "ONLY_IF_OVER"] {
      let name = "URLCACHE_ADMIN_\(variable)"
      let result = try run(["list", "-c", "shop"], user: "", [name: "1x"])
      #expect(result.status == .configuration)
      #expect(
        result.messages.hasPrefix(
          "error: invalid value of the environment variable \(name): '1x' "))
    }
  }

  @Test func `an error in a rule is refused with its location`() throws {
    let rules = [
      "statsu = \"4xx\"", "status = \"4yy\"", "where = 'é >> 7d'", "where = \"a\\u0062 > 1\"",
      "where = 'age > 7d && statsu = 4xx'", "glob = '[a'", "fresh = 'x'", "stale = false",
      "host = []",
      "url-file = '-'", "regex = '('", "older_than = '7m'", "age-basis = 'x'", "help = true",
      "version = true",
      "url = 'a b'", "url = '--fresh'", "host = { a = 1 }", "status",
    ].map { "[[rules]]\naction = 'keep'\nmatch = { \($0) }\n" }
    let others = [
      "[[rules]]\nactoin = 'purge'\nmatch = {}", "[[rules]]\naction = 'delete'\nmatch = {}",
      "[[rules]]\naction = 'limit'\nmatch = {}", "[[rules]]\naction = 'keep'",
      "[[rules]]\nmatch = {}\naction = 'keep'\nmax-size = 1", "[[rules]]\nmatch = {}",
      "[[rules]]\nmatch = {}\nexpire-after = '1yr'", "[[rules]]\nmatch = 3\naction = 'keep'",
      "rules = 1",
      "rules = [1]",
      "[caches.shop]\npath = '/x'\n[[caches.shop.rules]]\nmatch = {}\nmax-entries = -1",
      "max-age = '1d'\nmax_age = '2d'",
    ]
    let shown = try (rules + others).map { file in
      let result = try run(["config", "check"], user: file)
      #expect(result.status == .configuration && result.output == "", "\(file)")
      #expect(try run(["list", "-c", "shop"], user: file).status == .configuration)
      return result.messages
    }
    try expectGolden(shown.joined(separator: "\n"), named: "configuration-rule-errors.txt")
  }

  @Test func `the first matching rule decides`() throws {
    let user = """
      cache = "shop"
      [[rules]]
      match = { url = ["https://a.example/2", "https://a.example/10"] }
      action = "purge"
      [caches.shop]
      path = "/shop"
      [[caches.shop.rules]]
      name = "odd"
      match.where = "size in (1, 3, 5)"
      action = "keep"
      """
    let system = """
      [[rules]]
      match = { stored-after = "2025-10-09T08:53:25Z" }
      max_entries = 2
      [[rules]]
      match = {}
      expire_after = "84d"
      """
    let table = try run(["rules", "test"], user: user, system: system)
    try expectGolden(table.output, named: "rules-test.txt")
    let json = try run(
      ["rules", "test", "1", "10", "--format", "json"], user: user, system: system)
    try expectGolden(json.output, named: "rules-test.json")
    let absent = try run(["-c", "shop", "rules", "test", "11"], user: user, system: system)
    #expect(absent.status == .no && absent.messages == "error: no entry has the id 11\n")
    let enforced = try run(
      ["enforce", "--yes", "--no-verify", "--format", "json"], user: user, system: system)
    try expectGolden(enforced.output, named: "policy-enforced.json")
    #expect(enforced.messages.hasPrefix("note: entries kept by rules: 3\n"))
    // Rules keep three entries, so the limit cannot be met, and nothing is removed unless best effort is requested.
    let unmet = ["enforce", "--yes", "--no-verify", "--max-entries", "0"]
    let refused = try run(unmet, user: user, system: system)
    #expect(refused.removed.isEmpty && refused.status == .no)
    #expect(
      refused.messages == """
        note: entries kept by rules: 3
        cannot meet the limits, so nothing was removed: 3 entries would remain, more than the '--max-entries' limit of 0
          rules keep 3 entries (9 B)
          hint: see which rule keeps which entry: urlcache-admin rules test -c shop
        hint: use '--best-effort' to remove as much as possible

        """)
    let all = try run(unmet + ["--best-effort"], user: user, system: system)
    #expect(all.status == .no)
    #expect(all.removed == [2, 4, 6, 7, 8, 9, 10].map { .row($0) })
    let some = try run(
      ["enforce", "--yes", "--no-verify", "--prefix", "https://a.example/2"], user: user,
      system: system)
    #expect(some.removed == [.row(2)])
    let none = try run(
      ["enforce", "-n", "--max-entries", "20", "--only-if-over"], user: user, system: system)
    #expect(
      none.output == """
        Would remove 0 of 10 entries, 0 B of bodies
        Size on disk: 0 B before, 0 B after

        """)
  }

  @Test(arguments: [
    ["list"], ["ls"], ["show", "1"], ["body", "1"], ["usage"], ["du"], ["explain", "1"],
    ["purge", "1"], ["enforce"], ["trim"], ["compact"], ["check"], ["export", "-o", "-"],
    ["import", "x"], ["apply", "x"], ["diff", "x", "y"], ["revalidate", "1"],
    ["report", "-o", "-"], ["rules", "test"], ["metrics"],
  ])
  func `every command that takes a cache reads the configuration`(words: [String]) throws {
    #expect(try run(words, user: "not TOML").status == .configuration)
  }

  @Test func `discover reads no configuration`() throws {
    #expect(try run(["discover"], user: "not TOML").status == .done)
  }

  @Test func `every value is shown with its source`() throws {
    let user = """
      wait = "9s"
      [caches.shop]
      path = "~/a b"
      max-size = 1_000
      order = ["largest", "oldest"]
      """
    let system = "wait = \"8s\"\nmax-age = \"30d\"\n[caches.shop]\npath = \"/x\"\nlow = \"90%\"\n"
    let variables = ["URLCACHE_ADMIN_CACHE": "shop", "URLCACHE_ADMIN_MAX_DELETE": "9%"]
    let table = try run(["config"], user: user, system: system, variables)
    try expectGolden(table.output, named: "configuration.txt")
    let json = try run(
      ["config", "list", "--format", "json"], user: user, system: system, variables)
    try expectGolden(json.output, named: "configuration.json")
  }

  private func run(
    _ words: [String], user: String? = nil, system: String? = nil,
    _ variables: [String: String] = [:],
    store: MemoryStore? = Self.store
  ) throws -> CommandLineResult {
    var files: [String: String] = [:]
    files[Self.userFile] = user
    files[Self.systemFile] = system
    let now = try #require(Timestamp(secondsSince1970: 1_767_225_600.5))
    return CommandLineResult.running(
      words, on: store, now: now, files: files,
      variables: variables.merging(["HOME": "/home/a"]) { given, _ in given })
  }

  /// Ten entries.
  private static var store: MemoryStore {
    MemoryStore(
      (1...10 as ClosedRange<Int64>).map { number in
        var response = StoredResponse(id: .row(number))
        response.status = 200
        response.url = ByteString("https://a.example/\(number)")
        response.stored = Timestamp(secondsSince1970: 1_760_000_000 + Double(number))
        response.responseHeaders = HeaderFields()
        response.bodySize = ByteCount(number)
        response.bodyLocation = .inline
        return response
      })
  }
}
