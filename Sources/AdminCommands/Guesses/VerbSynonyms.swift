import Administration
import ArgumentParser
import Rendering

/// Names that users of other programs try first.
enum VerbSynonyms {
  /// The words that replace a verb; the names that the help shows are aliases of their commands instead.
  private static let replacements: [String: [String]] = [
    "delete": ["purge"], "remove": ["purge"], "clean": ["purge"], "prune": ["purge"],
    "evict": ["purge"],
    "stats": ["usage"], "info": ["usage"], "df": ["usage"], "size": ["usage"],
    "hosts": ["usage", "--by", "host"],
    "largest": ["list", "--sort=-size", "--limit=10"],
    "biggest": ["list", "--sort=-size", "--limit=10"],
    "head": ["list", "--limit=10"], "count": ["list", "--count"],
    "expired": ["list", "--stale"], "pinned": ["list", "--pinned"],
    "search": ["grep"], "cat": ["body"], "get": ["body"],
    "why": ["explain"], "compare": ["diff"], "sql": ["query"],
    "tail": ["watch"], "monitor": ["watch"],
    "secrets": ["audit", "--rule=secret"], "tokens": ["audit", "--rule=secret"],
    "leaks": ["audit", "--rule=secret"], "credentials": ["audit", "--rule=secret"],
    "verify": ["check"], "fsck": ["check"], "repair": ["check", "--repair"],
    "undelete": ["recover"], "restore": ["import"], "load": ["import"],
    "cleanup": ["purge"], "clean-up": ["purge"], "caches": ["discover"],
    "stale": ["list", "--stale"], "fresh": ["list", "--fresh"],
    "json": ["list", "--format=json"], "csv": ["list", "--format=csv"],
    "urls": ["list", "--format=urls"],
    "headers": ["show", "--headers"], "curl": ["show", "--curl"],
    "policy": ["rules"],
    "version": ["--version"], "-V": ["--version"], "-v": ["--version"],
  ]

  /// The hints for words that no command has, but that have a clear meaning.
  private static let hints: [String: String] = [
    "extract": "write a body with 'urlcache-admin body CACHE ID -o FILE'",
    "undo":
      "only '--backup FILE' of a command keeps a copy of what it removes: bring that back with"
      + " 'urlcache-admin import FILE -c CACHE'; look for what is left of other entries with"
      + " 'urlcache-admin recover CACHE'",
    "open": "did you mean 'show'?",
    "find": "find caches with 'urlcache-admin discover', entries with 'urlcache-admin list --glob',"
      + " '--host' or '--where', and text with 'urlcache-admin grep'",
    "view": "did you mean 'show'?", "inspect": "did you mean 'show'?",
    "describe": "did you mean 'show'?", "print": "did you mean 'show'?",
    "status": "did you mean 'usage'?",
    "summary": "did you mean 'usage'?", "top": "did you mean 'usage'?",
    "scan": "did you mean 'discover'?", "locate": "did you mean 'discover'?",
    "doctor": "did you mean 'check'?", "lint": "did you mean 'check'?",
    "vacuum": "did you mean 'compact'?", "gc": "did you mean 'compact'?",
    "limit": "see what a limit would remove with"
      + " 'urlcache-admin enforce CACHE --max-size 100M --dry-run'; without '--dry-run' it removes",
    "refresh": "did you mean 'revalidate'?",
    "update": "did you mean 'revalidate'?",
    "keep": "see what is kept with 'urlcache-admin pin CACHE'; with a URL after"
      + " the cache, 'pin' keeps its entry",
  ]

  /// The commands that can change a cache or the configuration.
  static let changing: Set = [
    "purge", "enforce", "compact", "apply", "import", "revalidate", "expire", "pin", "unpin",
    "config",
  ]

  /// Returns a command line with the name of a command in place of a synonym.
  ///
  /// - Parameter words: The command line; the verb is the first word.
  static func replaced(in words: some Collection<String>) -> [String] {
    var words = Array(words)
    let index = words.first == "help" ? 1 : 0
    guard words.indices.contains(index), let replacement = replacements[words[index]] else {
      return Conversion(in: words)?.commandLine ?? SubcommandHints.replaced(in: words)
    }
    let typed = words[index]
    words[index] = replacement[0]
    guard index == 0 else { return words }
    if typed == "tail" { words = withoutFollowing(words) }
    // Before other options, so that these override it. But `--repair` would take the next word for its value.
    let place = replacement.last == "--repair" ? words.firstIndex(of: "--") ?? words.endIndex : 1
    words.insert(contentsOf: replacement.dropFirst(), at: place)
    return words
  }

  /// Returns the words of `tail -f` without the option, unless it has a format.
  private static func withoutFollowing(_ words: [String]) -> [String] {
    let options = words.prefix { $0 != "--" }
    guard let option = options.firstIndex(where: { ["-f", "-F", "--follow"].contains($0) }) else {
      return words
    }
    let isFormat =
      words[option] == "-f" && option + 1 < words.count
      && WatchFormat(argument: words[option + 1]) != nil
    return isFormat ? words : Array(words[..<option] + words[(option + 1)...])
  }

  /// Returns a hint for a word that is no command.
  ///
  /// - Parameter rest: The words after it.
  static func hint(for word: String, before rest: [String]) -> String {
    if let conversion = Conversion(in: [word] + rest) { return conversion.hint }
    if let hint = hints[word] ?? VerbHints(before: rest).hint(for: word) { return hint }
    if word.utf8.contains(UInt8(ascii: "/")) || word.utf8.contains(UInt8(ascii: ".")) {
      return "name a command first: 'urlcache-admin list \(word)'"
    }
    let commands = URLCacheAdmin.configuration.subcommands.filter { $0.configuration.shouldDisplay }
    // A command that only looks comes first, and one that changes something must begin with the same letter: a
    // truncated 'find' must not suggest 'pin'. Nor does an inflected form ask for a change: 'purged' is what was purged.
    for isChanging in [false, true] {
      let names = commands.filter { changing.contains($0._commandName) == isChanging }
        .flatMap { [$0._commandName] + $0.configuration.aliases }
        .filter { !isChanging || $0.utf8.first == word.utf8.first && !isInflected($0, word) }
      if let nearest = Spelling.nearest(to: word, among: names) {
        return "did you mean '\(nearest)'?"
      }
    }
    return "list the commands with 'urlcache-admin --help'"
  }

  /// Whether a word is a form of a verb, such as `purged`, `pins` or `unpinned`.
  private static func isInflected(_ verb: String, _ word: String) -> Bool {
    ["s", "d", "ed", "ned"].contains { word == verb + $0 }
  }
}
