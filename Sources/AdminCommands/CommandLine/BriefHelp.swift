import ArgumentParser

/// The help of `-h`, which fits a small terminal: two examples and the most used options.
///
/// `--help` prints the help of ArgumentParser, with all options.
struct BriefHelp {
  /// The arguments of two example command lines, without the name of the program.
  let examples: [String]

  /// The names of the most used options.
  let options: [String]

  /// The brief help of commands, by their names.
  static let all: [String: BriefHelp] = [
    "list": BriefHelp(
      examples: ["list ~/Library/Caches/com.example.app", "list shop --sort=-size --limit 10"],
      options: [
        "--host", "--status", "--older-than", "--stale", "--columns", "--sort", "--limit",
        "--format",
      ]),
    "show": BriefHelp(
      examples: ["show shop 1", "show shop https://example.com/a.json --headers"],
      options: ["--headers", "--request", "--curl", "--show-secrets", "--format"]),
    "body": BriefHelp(
      examples: ["body shop 1", "body shop https://example.com/a.json --pretty"],
      options: ["--output", "--pretty", "--decoded", "--force"]),
    "usage": BriefHelp(
      examples: ["usage shop --by host", "usage --all-under ~/Library"],
      options: ["--by", "--capacity", "--histogram", "--savings", "--all-under", "--format"]),
    "explain": BriefHelp(
      examples: ["explain shop 1", "explain shop --why-missing https://example.com/a.json"],
      options: ["--all", "--policy", "--platform", "--why-missing", "--format"]),
    "discover": BriefHelp(
      examples: ["discover", "discover ~/Library --format json"],
      options: ["--max-depth", "--format"]),
    "sample": BriefHelp(
      examples: ["sample com.example.shop", "sample demo --format webkit --entries 500"],
      options: ["--format", "--entries", "--seed", "--newest", "--faults"]),
    "diff": BriefHelp(
      examples: ["diff old.tar.zst shop.tar.zst", "diff a/Cache.db b/Cache.db --stat"],
      options: ["--by", "--stat", "--detail", "--bodies", "--format"]),
    "report": BriefHelp(
      examples: ["report shop -o report.html", "report shop -f markdown -o -"],
      options: ["--output", "--format", "--capacity", "--force"]),
    "grep": BriefHelp(
      examples: [
        "grep 'session expired' shop", "grep -i -E 'x-cache: (hit|miss)' shop --in response",
      ],
      options: [
        "--in", "--ignore-case", "--expression", "--word", "--list-entries", "--count",
        "--only-matching", "--context", "--format",
      ]),
    "query": BriefHelp(
      examples: [
        "query shop 'SELECT host, sum(size) FROM entries GROUP BY host'",
        "query shop 'SELECT url FROM entries WHERE size > :n' :n=100000",
      ], options: ["--file", "--timeout", "--host", "--format"]),
    "watch": BriefHelp(
      examples: [
        "watch shop --host .example.com",
        "watch shop --until 'path = \"/feed\"' --for 30s",
      ], options: ["--for", "--until", "--retry", "--host", "--where", "--format"]),
    "purge": BriefHelp(
      examples: ["purge shop --older-than 30d --dry-run", "purge shop --host .example.com --yes"],
      options: [
        "--host", "--glob", "--older-than", "--stale", "--all", "--dry-run", "--yes", "--backup",
        "--max-delete",
      ]),
    "enforce": BriefHelp(
      examples: ["enforce shop --max-size 200MiB --dry-run", "enforce shop --max-age 30d --yes"],
      options: [
        "--max-size", "--max-entries", "--max-age", "--min-free", "--order", "--dry-run", "--yes",
        "--backup",
      ]),
    "compact": BriefHelp(
      examples: ["compact shop --dry-run", "compact shop"],
      options: ["--dry-run", "--full", "--threshold"]),
    "apply": BriefHelp(
      examples: ["apply plan.json --dry-run", "apply plan.json --yes"],
      options: ["--dry-run", "--yes", "--backup", "--max-delete", "--include-pinned"]),
    "pin": BriefHelp(
      examples: ["pin shop https://example.com/a.json", "pin"],
      options: ["--cache", "--everywhere", "--format"]),
    "unpin": BriefHelp(
      examples: [
        "unpin shop https://example.com/a.json", "unpin --everywhere https://example.com/a.json",
      ], options: ["--cache", "--everywhere", "--format"]),
    "check": BriefHelp(
      examples: ["check shop", "check shop --repair --dry-run"],
      options: ["--full", "--repair", "--offline-set", "--dry-run", "--yes", "--format"]),
    "audit": BriefHelp(
      examples: ["audit shop", "audit shop --rule secret --format sarif > audit.sarif"],
      options: [
        "--details", "--rules", "--rule", "--ignore", "--baseline", "--write-baseline", "--fail-on",
        "--show-secrets", "--format",
      ]),
    "recover": BriefHelp(
      examples: ["recover shop", "recover --damaged shop -o found.tar"],
      options: [
        "--host", "--versions", "--damaged", "--uncertain-bodies", "--confidence", "--output",
        "--format",
      ]),
    "revalidate": BriefHelp(
      examples: ["revalidate shop --stale", "revalidate shop --stale --refresh --yes"],
      options: [
        "--all", "--stale", "--host", "--refresh", "--purge-gone", "--dry-run", "--yes", "--backup",
      ]),
    "expire": BriefHelp(
      examples: [
        "expire shop --all --clear-user-info 'Cached Date' --dry-run",
        "expire shop --host a.example --clear-user-info 'Cached Date' -y",
      ], options: ["--clear-user-info", "--host", "--all", "--dry-run", "--yes", "--backup"]),
    "export": BriefHelp(
      examples: ["export shop -o shop.tar.zst", "export shop --host .example.com -o shop.har"],
      options: ["--output", "--format", "--redact", "--with-credentials", "--force"]),
    "import": BriefHelp(
      examples: ["import shop.tar.zst -c shop --dry-run", "import site.har -c NEW"],
      options: ["--cache", "--on-conflict", "--create", "--dry-run", "--yes"]),
    "metrics": BriefHelp(
      examples: ["metrics shop", "metrics --all-caches -o urlcache.prom"],
      options: ["--all-caches", "--output"]),
    "rules test": BriefHelp(
      examples: ["rules test shop", "rules test shop https://example.com/a.json"],
      options: ["--host", "--stale", "--format"]),
    "config list": BriefHelp(
      examples: ["config list", "config list --format json"], options: ["--config", "--format"]),
    "config check": BriefHelp(
      examples: ["config check", "config check --config FILE"], options: ["--config"]),
    "config set": BriefHelp(
      examples: [
        "config set caches.shop.path ~/Library/Caches/com.example.app",
        "config set caches.shop.max-size 200MiB",
      ], options: ["--config"]),
    "config unset": BriefHelp(
      examples: ["config unset max-age", "config unset caches.shop.max-size"],
      options: ["--config"]),
  ]

  /// Returns the brief help if a command line asks for it; `nil` if it does not, or if the full help is all there is.
  static func text(for words: [String]) -> String? {
    let options = words.prefix { $0 != "--" }
    guard options.contains("-h"), !options.contains("--help") else { return nil }
    guard let command = NamedCommand(in: words) else { return words.first == "-h" ? root : nil }
    return all[command.name].map { $0.text(of: command.type, named: command.name) }
  }

  /// Returns the brief help of a command.
  func text(of command: any ParsableCommand.Type, named name: String) -> String {
    let help = URLCacheAdmin.helpMessage(for: command, columns: 80)
    let lines = help.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { String(decoding: Array($0), as: UTF8.self) }
    let usage = lines.first { $0.utf8.starts(with: "USAGE: ".utf8) } ?? ""
    let page = name.utf8.split(separator: UInt8(ascii: " ")).first.flatMap { String($0) } ?? name
    let parts = [
      [command.configuration.abstract, "", usage, ""], Self.shown(examples), ["", "OPTIONS:"],
      options.flatMap { Self.entry(of: $0, in: lines) },
      [
        "", "'urlcache-admin \(name) --help' lists all options,",
        "'man urlcache-admin-\(page)' has more examples.",
      ],
    ]
    return parts.joined().joined(separator: "\n") + "\n"
  }

  /// Returns the lines about an option in the full help.
  private static func entry(of option: String, in lines: [String]) -> [String] {
    let start = lines.firstIndex { line in
      let words = line.utf8.split(separator: UInt8(ascii: " "))
        .prefix { $0.first == UInt8(ascii: "-") }
      return line.utf8.starts(with: "  -".utf8)
        && words.contains { $0.elementsEqual(option.utf8) || $0.elementsEqual((option + ",").utf8) }
    }
    guard let start else { return [] }
    // Further lines are indented below the text.
    return [lines[start]]
      + lines[(start + 1)...].prefix { $0.utf8.starts(with: "      ".utf8) }
  }

  private static func shown(_ examples: [String]) -> [String] {
    ["EXAMPLES:"] + examples.map { "  urlcache-admin \($0)" }
  }

  /// The brief help of the program: its commands by group.
  static var root: String {
    let groups = URLCacheAdmin.configuration.groupedSubcommands.flatMap { group in
      let padding = String(repeating: " ", count: max(0, 10 - group.name.utf8.count))
      let names = group.subcommands.map { command in
        let aliases = command.configuration.aliases
        return command._commandName
          + (aliases.isEmpty ? "" : " (\(aliases.joined(separator: ", ")))")
      }
      var lines = ["  \(group.name)\(padding)"]
      for (index, name) in names.enumerated() {
        // Further lines begin below the first name.
        if lines[lines.count - 1].utf8.count + name.utf8.count > 78 {
          lines.append(String(repeating: " ", count: 12))
        } else if index > 0 {
          lines[lines.count - 1] += "  "
        }
        lines[lines.count - 1] += name
      }
      return lines
    }
    let parts = [
      [
        URLCacheAdmin.configuration.abstract, "",
        "USAGE: urlcache-admin <command> [<cache>] [<url-or-id> ...] [<options>]", "",
      ],
      shown(["discover", "usage ~/Library/Caches/com.example.app --by host"]),
      ["", "COMMANDS:"], groups,
      [
        "", "'urlcache-admin <command> -h' shows examples of a command,",
        "'urlcache-admin --help' describes the commands, 'man urlcache-admin' has more.",
      ],
    ]
    return parts.joined().joined(separator: "\n") + "\n"
  }
}
