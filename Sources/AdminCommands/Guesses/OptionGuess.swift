import ArgumentParser

/// What to suggest for an option of another program.
struct OptionGuess {
  /// What to suggest.
  enum Suggestion {
    /// The command line with these words in place of the option.
    ///
    /// The number follows them if the option has none; it is `nil` if they take the value of the option.
    case words([String], number: String?)
    /// The command line without the option, and without its value if it has one.
    case nothing(takesValue: Bool)
    /// A sentence, in which `CACHE` stands for the cache and `VALUE` for the value of the option.
    case text(String)
  }

  /// The suggestion.
  let suggestion: Suggestion

  /// The only command that it is for; `nil` for all.
  let command: String?

  /// The options that a command must have.
  let options: [String]

  /// Returns the guesses for an option; the first one that suits the command is suggested.
  static func all(named name: String) -> [OptionGuess] {
    table.first { pair in
      pair.key.utf8.split(separator: UInt8(ascii: " ")).contains { $0.elementsEqual(name.utf8) }
    }?.value ?? []
  }

  /// Whether an option of another program names the new file.
  static func isOutput(_ name: String) -> Bool {
    all(named: name).contains { $0.options == ["--output"] }
  }

  /// Suggests the command line with words in place of the option.
  private static func write(
    _ words: String, number: String? = nil, in command: String? = nil
  ) -> OptionGuess {
    let words = words.utf8.split(separator: UInt8(ascii: " "))
      .map { String(decoding: Array($0), as: UTF8.self) }
    let options = words.filter { $0.utf8.first == UInt8(ascii: "-") }.map { word in
      String(decoding: Array(word.utf8.prefix { $0 != UInt8(ascii: "=") }), as: UTF8.self)
    }
    return OptionGuess(
      suggestion: .words(words, number: number), command: command, options: options)
  }

  /// Suggests the command line without the option.
  private static func leaveOut(
    value takesValue: Bool = false, in command: String? = nil
  ) -> OptionGuess {
    OptionGuess(
      suggestion: .nothing(takesValue: takesValue), command: command, options: [])
  }

  /// Suggests something in a sentence.
  ///
  /// - Parameter option: An option that the command must have; `nil` for none.
  private static func say(
    _ text: String, with option: String? = nil, in command: String? = nil
  ) -> OptionGuess {
    OptionGuess(
      suggestion: .text(text), command: command, options: option.map { [$0] } ?? [])
  }

  private static let largest =
    "list the largest entries with"
    + " 'urlcache-admin list CACHE --sort=-size --limit 10'"
  private static let format = "sizes are already human-readable; '--format csv' shows bytes"
  private static let entries = "use '--prefix', '--host' or '--all'"

  private static let keep =
    "--where 'host != \"HOST\"' leaves a host out once;"
    + " a rule with match.host and action = \"keep\" keeps it always"

  private static let watch =
    URLCacheAdmin.configuration.subcommands.contains { $0._commandName == "watch" }
    ? [say("follow a cache with 'urlcache-admin watch CACHE'")] : []

  /// The guesses by the names of options.
  private static let table: KeyValuePairs<String, [OptionGuess]> = [
    // The order, and how many.
    "--largest --biggest --large": [
      write("--sort=-size --limit", number: "10", in: "list"), say(largest),
    ],
    "--smallest": [write("--sort=size --limit", number: "10", in: "list")],
    "--oldest": [write("--sort=-age --limit", number: "10", in: "list")],
    "--newest --recent --latest": [write("--sort=age --limit", number: "10", in: "list")],
    "--top": [
      write("--sort=-size --limit", number: "10", in: "list"), write("--limit", number: "10"),
      say(largest),
    ],
    "--head --max --first --max-results": [write("--limit", number: "10")],
    "--desc --descending": [write("--reverse")],
    "--order-by --sort-by --sortby --order": [write("--sort")],
    "--group-by --group": [
      write("--by"), say("group with 'urlcache-admin usage CACHE --by VALUE'"),
    ],
    "--by": [say("group with 'urlcache-admin usage CACHE --by VALUE'", in: "list")],
    "-b": [write("--by", in: "usage")],
    "--host --hosts": [
      OptionGuess(
        suggestion: .words(["--by", "host"], number: nil), command: "usage", options: ["--by"]),
      say(
        "pins are URLs; a rule with match.host and action = \"keep\" keeps the entries of a host",
        in: "pin"),
    ],
    "--sort": [
      leaveOut(value: true, in: "usage"),
      say("list the largest first with 'urlcache-admin usage --all-under ~'", in: "discover"),
    ],
    "--limit": [
      write("--max-size", in: "enforce"), leaveOut(value: true, in: "discover"),
      say("select fewer entries, for example with '--host' or '--newer-than'", in: "revalidate"),
      say(
        "use '--max-delete NUMBER' to refuse removing more than NUMBER entries",
        with: "--max-delete"),
    ],
    "-S": [write("--sort=-size", in: "list"), say(largest)],
    "-t": [write("--sort=age", in: "list"), write("--mime", in: "grep")],
    "-l --long": [write("--wide", in: "list")],
    "-a": [say("'list' shows all entries by default", in: "list")],
    "-1": [write("--format urls", in: "list")],
    "-r": [
      write("--reverse", in: "list"), leaveOut(in: "discover"), say(entries, with: "--all"),
    ],
    "-R --recursive": [leaveOut(in: "discover"), say(entries, with: "--all")],
    "-s -sh": [
      leaveOut(in: "usage"), write("--stat", in: "diff"),
    ],
    "--human --human-readable -H": [say(format, with: "--format")],
    // Which entries.
    "--grep --search --text --content --body-contains": [write("--contains")],
    "--url-contains --path-contains": [
      say("for a part of the URL use --glob '*TEXT*'", with: "--glob")
    ],
    "--url": [leaveOut()],
    "--images --image": [write("--mime image")],
    "--old": [write("--older-than 30d")],
    "--freshness --state": [
      say("use '--stale', '--fresh' or '--no-lifetime'", with: "--stale")
    ],
    "--orphans": [
      say(
        "list orphans with 'urlcache-admin check CACHE --repair=orphans --dry-run'",
        in: "purge")
    ],
    "--include --name --pattern --match": [write("--glob")],
    "--exclude-host --exclude-hosts": [
      say(keep, with: "--where", in: "enforce"),
      say("--where 'host != \"HOST\"' leaves a host out", with: "--where"),
    ],
    "--exclude --not": [
      say(keep, with: "--where", in: "enforce"),
      say("exclude with '--where', as in --where '!(host == \"a.example\")'", with: "--where"),
    ],
    "--filter": [write("--where")], "--domain --hostname --site": [write("--host")],
    "--content-type --mime-type": [write("--mime")],
    "--ext --extension": [say("use --glob '*.EXTENSION'", with: "--glob")],
    "--code --status-code": [write("--status")], "--expired": [write("--stale")],
    "--valid": [write("--fresh")],
    "--before --until": [write("--stored-before")], "--after --from": [write("--stored-after")],
    "--older": [write("--older-than")], "--newer --younger-than": [write("--newer-than")],
    "--age": [write("--older-than")],
    "--days": [say("use '--older-than 30d'", with: "--older-than")],
    "--max-age": [write("--older-than", in: "purge")],
    "--size": [
      write("--max-size", in: "enforce"),
      say("use '--larger-than' or '--smaller-than'", with: "--larger-than"),
    ],
    "--min-size --larger --bigger-than": [write("--larger-than")],
    "--smaller": [write("--smaller-than")],
    "--quota": [write("--max-size"), write("--capacity")],
    "--entries": [write("--max-entries")],
    "--path --db --database --store --dir": [write("--cache")],
    "-c --cache": [
      say("name both as operands: 'urlcache-admin diff OLD NEW'", in: "diff"),
      leaveOut(in: "discover"),
    ],
    "--har --warc --wacz --zip --tar --archive --input --in": [leaveOut()],
    "--sql": [leaveOut(in: "query")],
    "--schema --tables": [
      say("see the tables and columns with 'urlcache-admin query --help'", in: "query")
    ],
    "--all": [
      say("search your whole home folder with 'urlcache-admin discover ~'", in: "discover"),
      say("'--all-caches' runs the command for each configured cache", with: "--all-caches"),
    ],
    // How to search.
    "-v --invert-match": [
      say("only matches are shown; '-l' lists the entries with matches", in: "grep"),
      say("all notes are shown unless '--quiet' is given"),
    ],
    "-L --files-without-match": [
      say("only matches are shown; '-l' lists the entries with matches", in: "grep")
    ],
    "-x --line-regexp": [say("use -E '^TEXT$'", in: "grep")],
    "-I": [say("bodies that are not text are not searched without '--binary'", in: "grep")],
    "--no-filename": [say("'--format json' shows the parts of each match separately", in: "grep")],
    // What to show, and where.
    "--csv": [write("--format csv")], "--tsv": [write("--format tsv")],
    "--ndjson --jsonl --json-lines": [write("--format ndjson"), write("--json")],
    "--jq --template": [
      say(
        "write JSON for jq: urlcache-admin list CACHE --json | jq -r '.entries[].url'", in: "list"),
      say("write JSON for jq, with '--json'", with: "--json"),
    ],
    "--fields": [write("--columns")], "--details --detailed": [write("--wide")],
    "--no-color --no-colour --nocolor": [write("--color never")],
    "--colour": [write("--color")],
    "--reveal --unmask": [write("--show-secrets")],
    "--secrets --tokens --credentials --secret --token --with-token": [
      write("--rule secret", in: "audit"),
      say(
        "find entries that contain secrets with 'urlcache-admin audit CACHE --rule secret'; '--show-secrets' shows them unmasked",
        with: "--show-secrets"),
    ],
    "--only": [write("--rule", in: "audit")],
    "--anonymize --sanitize --mask": [write("--redact")],
    "--silent": [write("--quiet")],
    "--verbose --debug": [say("all notes are shown unless '--quiet' is given")],
    "--metrics": [say("measure a cache with 'urlcache-admin metrics CACHE'")],
    "--nightly --schedule --cron --daily": [
      say("run this command every night from cron or a timer, with '--yes'", in: "enforce")
    ],
    "--export --archive-to": [write("--backup")],
    "--into --destination --dest": [write("-c", in: "import")],
    "--out --outfile --output -o": [
      write("--output"), write("-c", in: "import"), write("--backup"),
      say("the result is on standard output: add '> FILE'", in: "list"),
    ],
    "--to --file": [
      write("--output"), write("-c", in: "import"),
      say("the result is on standard output: add '> FILE'", in: "list"),
    ],
    // What to compare, and how.
    "-u --unified --patch -p": [write("--bodies", in: "diff")],
    "--brief --summary --shortstat --short": [write("--stat", in: "diff")],
    "--name-only --name-status": [leaveOut(in: "diff")],
    // How to check.
    "--read-data --deep --thorough": [write("--full", in: "check")],
    "--overwrite": [write("--force"), write("--on-conflict replace")],
    // Whether to change something.
    "--dry --simulate --preview": [write("--dry-run")],
    "--force --no-confirm --assume-yes": [write("--yes")],
    "--fix": [write("--repair")],
    "-i --interactive": [
      say("the command asks for confirmation on a terminal unless '--yes' is given", with: "--yes")
    ],
    "--bodies": [write("--in body", in: "grep")],
    "--interval --every": [leaveOut(value: true, in: "watch")],
    "--lines": [leaveOut(value: true, in: "watch")],
    "--all-caches": [say("'watch' follows one cache: run it once for each", in: "watch")],
    "-n": [
      leaveOut(value: true, in: "watch"),
      say("this command has neither '--limit' nor '--dry-run', because it changes nothing"),
    ],
    "--follow --watch --tail -F -w": watch,
  ]
}
