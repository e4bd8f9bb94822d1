@testable import AdminCommands
import Administration
import ArgumentParser
import Bytes
import ResponseStorage
import TestSupport
import Testing

/// Tests the precedence of options, environment variables, the section of a cache, and the defaults of a file.
@Suite struct PrecedenceTests {
  /// A setting with four values, one from each source.
  private struct Case: Sendable {
    var setting: String
    /// The values from the command line, the environment, `[caches.shop]`, and the top level of the file.
    var values: [String]
    /// Returns the value that a command uses, as text.
    var taken: @Sendable (any ConfiguredCommand) -> String?
    /// The text of each value, and the default at the end.
    var read: [String?]
    /// The commands that have the option.
    var verbs: Set<String>
  }

  /// A command line for each command that takes a cache, without the cache.
  private static let lines: [String: [String]] = [
    "list": [], "show": ["1"], "body": ["1"], "usage": [], "explain": ["1"], "purge": ["1"],
    "enforce": [], "compact": [], "check": ["--repair"], "export": ["-o", "x.tar"],
    "import": ["x.tar"], "apply": ["x.json"], "diff": ["x.tar", "y.tar"], "revalidate": ["1"],
    "expire": ["1", "--clear-user-info", "a"],
    "recover": [], "audit": [], "report": ["-o", "-"], "query": ["SELECT 1"], "grep": ["a"],
    "watch": [],
    "rules test": [], "metrics": [],
  ]

  private static let changing: Set = ["purge", "enforce", "apply", "check", "revalidate"]

  private static let cases: [Case] = [
    Case(
      setting: "wait", values: ["1s", "2s", "3s", "4s"],
      taken: { "\($0.cache.waitMilliseconds)" }, read: ["1000", "2000", "3000", "4000", "5000"],
      verbs: Set(lines.keys)),
    Case(
      setting: "max-delete", values: ["1", "2", "3%", "4"],
      taken: { change(of: $0)?.maxDelete.map { "\($0)" } },
      read: ["entries(1)", "entries(2)", "percent(3.0)", "entries(4)", nil], verbs: changing),
    Case(
      setting: "capacity", values: ["1KiB", "2KiB", "3KiB", "4KiB"],
      taken: { capacity(of: $0).map { "\($0)" } }, read: ["1024", "2048", "3072", "4096", nil],
      verbs: ["audit", "usage", "report", "enforce"]),
    limit("max-size", ["1", "2", "3", "4"], ["1", "2", "3", "4", nil]) { $0.bytes },
    limit("max-entries", ["1", "2", "3", "4"], ["1", "2", "3", "4", nil]) { $0.entries },
    limit("max-age", ["1s", "2s", "3s", "4s"], ["1.0", "2.0", "3.0", "4.0", nil]) { $0.age },
    limit("max-entry-size", ["1", "2", "3", "4"], ["1", "2", "3", "4", nil]) { $0.entryBytes },
    limit("min-free", ["10", "20", "30%", "40"], ["10", "20", "300", "40", nil]) { $0.bytesToFree },
    limit("low", ["1%", "2%", "3%", "4%"], ["1.0", "2.0", "3.0", "4.0", "100.0"]) { $0.lowPercent },
    limit(
      "order", ["largest", "oldest", "stale-first", "largest,oldest"],
      ["[largest]", "[oldest]", "[staleFirst]", "[largest, oldest]", "[]"]
    ) { limits in "[" + limits.order.map { "\($0)" }.joined(separator: ", ") + "]" },
  ]

  private static func limit(
    _ setting: String, _ values: [String], _ read: [String?],
    _ taken: @escaping @Sendable (CacheLimits) -> (some Any)?
  ) -> Case {
    Case(
      setting: setting, values: values,
      taken: { command in
        (command as? URLCacheAdmin.Enforce).flatMap {
          taken($0.limit.limits(available: 0, total: 1_000))
        }.map { "\($0)" }
      }, read: read, verbs: ["enforce"])
  }

  private static func change(of command: any ConfiguredCommand) -> ChangeOptions? {
    switch command {
    case let command as URLCacheAdmin.Purge: command.change
    case let command as URLCacheAdmin.Enforce: command.change
    case let command as URLCacheAdmin.Apply: command.change
    case let command as URLCacheAdmin.Check: command.change
    case let command as URLCacheAdmin.Revalidate: command.change
    default: nil
    }
  }

  private static func capacity(of command: any ConfiguredCommand) -> ByteCount? {
    switch command {
    case let command as URLCacheAdmin.Usage: command.capacity
    case let command as URLCacheAdmin.Report: command.capacity
    case let command as URLCacheAdmin.Audit: command.audit.capacity
    case let command as URLCacheAdmin.Enforce: command.limit.capacity?.bytes
    default: nil
    }
  }

  @Test func `each command takes each setting from the source with the highest precedence`() throws
  {
    for (verb, words) in Self.lines {
      let plain = try parse(verb, words)
      for item in Self.cases {
        guard item.verbs.contains(verb) else {
          let filled = self.filled(plain, by: configuration(item, from: 1))
          #expect(item.taken(filled) == item.taken(plain), "\(verb) has no \(item.setting)")
          continue
        }
        let given = try parse(verb, words + ["--\(item.setting)=\(item.values[0])"])
        for first in 0...4 {
          let filled = self.filled(
            first == 0 ? given : plain, by: configuration(item, from: first))
          #expect(item.taken(filled) == item.read[first], "\(verb) \(item.setting) \(first)")
        }
      }
    }
  }

  @Test func `the table has every command that takes a cache`() {
    let verbs = URLCacheAdmin.configuration.subcommands.flatMap { command in
      command is any ConfiguredCommand.Type
        ? [command._commandName]
        : command.configuration.subcommands.filter { $0 is any ConfiguredCommand.Type }
          .map { "\(command._commandName) \($0._commandName)" }
    }
    #expect(Set(verbs) == Set(Self.lines.keys))
  }

  @Test func `a command-line flag overrides the configuration in both directions`() throws {
    for (options, set, isSet) in [
      ([], "true", true), ([], "false", false), (["--only-if-over"], "false", true),
      (["--no-only-if-over"], "true", false),
    ] as [([String], String, Bool)] {
      let command = try parse("enforce", options + ["-c", "shop"])
      let file = ConfigurationFile(
        Array("only-if-over = \(set)\n".utf8), path: "file", home: nil)
      let filled = self.filled(command, by: Configuration(files: [file]))
      let enforce = try #require(filled as? URLCacheAdmin.Enforce)
      #expect(enforce.limit.limits(available: 0, total: 0).onlyIfOver == isSet)
    }
  }

  @Test
  func `the setting 'secure' holds for all commands that remove, unless an option overrides it`()
    throws
  {
    let file = ConfigurationFile(Array("secure = true\n".utf8), path: "file", home: nil)
    let configuration = Configuration(files: [file])
    for (verb, words) in [
      ("purge", ["--all"]), ("enforce", ["--max-entries", "1"]), ("compact", []),
      ("check", ["--repair"]),
    ] {
      for (options, isSet) in [([], true), (["--secure"], true), (["--no-secure"], false)] {
        let command = try parse(verb, words + options + ["-c", "shop"])
        let filled = self.filled(command, by: configuration)
        let securing =
          (filled as? URLCacheAdmin.Purge)?.securing ?? (filled as? URLCacheAdmin.Enforce)?.securing
          ?? (filled as? URLCacheAdmin.Compact)?.securing
          ?? (filled as? URLCacheAdmin.Check)?.securing
        #expect(securing?.isOn == isSet, "\(verb) \(options)")
      }
    }
  }

  @Test func `the last of two caches and its settings are used`() throws {
    let file = ConfigurationFile(
      Array(
        """
        cache = "default"
        [caches.default]
        path = "/default"
        max-entries = 1
        [caches.shop]
        path = "/shop"
        max-entries = 2
        [caches.news]
        path = "/news"
        max-entries = 3
        """.utf8), path: "file", home: nil)
    for (words, name, entries) in [
      (["-c", "shop", "enforce", "-c", "news"], "news", 3),
      (["enforce", "-c", "shop", "--cache=news"], "news", 3),
      (["--cache=news", "-c", "shop", "enforce"], "shop", 2), (["enforce"], nil, 1),
      (["enforce", "--cache", "news", "-c", "/elsewhere"], "/elsewhere", nil),
      (["enforce", "-c", "/news/Cache.db"], "/news/Cache.db", 3),
    ] as [([String], String?, Int64?)] {
      let moved = LeadingOptions.moved(behindTheVerbOf: words)
      let parsed = try #require(
        URLCacheAdmin.parseAsRoot(moved) as? any ConfiguredCommand)
      let filled = self.filled(parsed, by: Configuration(files: [file]))
      #expect(filled.cache.cache == name)
      #expect((filled as? URLCacheAdmin.Enforce)?.limit.maxEntries == entries, "\(words)")
    }
  }

  private func filled(
    _ command: any ConfiguredCommand, by configuration: Configuration
  ) -> any ConfiguredCommand {
    let name = CachePlaces(of: configuration).name(of: command.cache.cache)
    return command.configured(by: configuration.settings(forCache: name), forCache: nil)
  }

  private func parse(_ verb: String, _ words: [String]) throws -> any ConfiguredCommand {
    let verbs = verb.split(separator: " ").map(String.init)
    return try #require(URLCacheAdmin.parseAsRoot(verbs + words) as? any ConfiguredCommand)
  }

  /// Returns the configuration of all sources from `first` on.
  private func configuration(_ item: Case, from first: Int) -> Configuration {
    let text =
      "cache = 'shop'\n" + (first <= 3 ? "\(item.setting) = '\(item.values[3])'\n" : "")
      + "[caches.shop]\npath = '/shop'\n"
      + (first <= 2 ? "\(item.setting) = '\(item.values[2])'\n" : "")
    let file = ConfigurationFile(Array(text.utf8), path: "file", home: nil)
    let variable = "URLCACHE_ADMIN_" + item.setting.uppercased().replacing("-", with: "_")
    return Configuration(files: [file]) { name in
      first <= 1 && name == variable ? item.values[1] : nil
    }
  }
}
