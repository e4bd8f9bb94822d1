import Administration
import ArgumentParser
import Files
import Rendering
import ResponseArchives

/// Names that users of other programs try first.
enum VerbSynonyms {
  /// Returns the words that replace a verb; the names that the help shows are aliases of their commands instead.
  private static func replacement(for verb: String) -> [String]? {
    // Each command line comes here, and a dictionary would have to be made for its one lookup.
    switch verb {
    case "delete", "remove", "clean", "prune", "evict", "cleanup", "clean-up": ["purge"]
    case "stats", "info", "df", "size", "status", "summary": ["usage"]
    case "hosts", "top": ["usage", "--by", "host"]
    case "largest", "biggest": ["list", "--sort=-size", "--limit=10"]
    case "head": ["list", "--limit=10"]
    case "count": ["list", "--count"]
    case "expired", "stale": ["list", "--stale"]
    case "fresh": ["list", "--fresh"]
    case "pinned": ["list", "--pinned"]
    case "json": ["list", "--format=json"]
    case "csv": ["list", "--format=csv"]
    case "urls": ["list", "--format=urls"]
    case "search", "rg": ["grep"]
    case "cat", "get": ["body"]
    case "headers": ["show", "--headers"]
    case "curl": ["show", "--curl"]
    case "why", "why-stale": ["explain"]
    case "compare": ["diff"]
    case "sql": ["query"]
    case "tail", "monitor", "live", "stream", "logs", "log": ["watch"]
    case "secrets", "tokens", "leaks", "find-secrets", "credentials": ["audit", "--rule=secret"]
    case "verify", "fsck", "doctor", "lint": ["check"]
    case "repair": ["check", "--repair"]
    case "undelete": ["recover"]
    case "restore", "load": ["import"]
    case "caches", "scan", "locate": ["discover"]
    case "policy": ["rules"]
    case "version", "-V", "-v": ["--version"]
    default: nil
    }
  }

  /// The hints for words that no command has, but that have a clear meaning.
  private static let hints: [String: String] = [
    "extract": "write a body with 'urlcache-admin body CACHE ID -o FILE'",
    "undo":
      "only a backup written with '--backup FILE' can be restored:"
      + " 'urlcache-admin import FILE -c CACHE'; look for remains of other entries with"
      + " 'urlcache-admin recover CACHE'",
    "find": "find caches with 'urlcache-admin discover', entries with 'urlcache-admin list --glob',"
      + " '--host' or '--where', and text with 'urlcache-admin grep'",
    "refresh": "did you mean 'revalidate'?",
    "update": "did you mean 'revalidate'?",
    "keep": "list pinned URLs with 'urlcache-admin pin CACHE'; to pin URLs, write them after"
      + " the cache",
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
    if let replaced = ambiguous(in: words) { return replaced }
    let index = words.first == "help" ? 1 : 0
    guard words.indices.contains(index), let replacement = replacement(for: words[index])
    else {
      return Conversion(in: words)?.commandLine ?? SubcommandHints.replaced(in: words)
    }
    words[index] = replacement[0]
    guard index == 0 else { return words }
    if replacement == ["watch"] { words = withoutFollowing(words) }
    // Before other options, so that these override it. But `--repair` would take the next word for its value.
    let place = replacement.last == "--repair" ? words.firstIndex(of: "--") ?? words.endIndex : 1
    words.insert(contentsOf: replacement.dropFirst(), at: place)
    return words
  }

  /// Returns a command line with the command that `find` or `open` stands for, which depends on the operands; `nil` if that is
  /// not clear.
  private static func ambiguous(in words: [String]) -> [String]? {
    guard let verb = words.first else { return nil }
    let operands = words.dropFirst().prefix { $0.utf8.first != UInt8(ascii: "-") }
    let rest = words.dropFirst(1 + operands.count)
    switch verb {
    case "find":
      // As in `find ~ -name Cache.db`.
      let isSearch = rest.isEmpty || rest.first == "-name" || rest.first == "-iname"
      guard isSearch, operands.allSatisfy(isFolderOfCaches) else { return nil }
      return ["discover"] + operands
    case "open", "view", "inspect", "describe", "print", "read":
      // A cache alone has no entry to show.
      let isEntry = operands.count > 1 || rest.contains("--id")
      return [isEntry ? "show" : "list"] + words.dropFirst()
    case "har", "warc", "tar", "zip":
      guard operands.count == 1, let file = operands.first,
        ExportFormat(ofFileNamed: file) != nil, (try? FileStatus.of(file)) != nil
      else { return nil }
      return ["list"] + words.dropFirst()
    default: return nil
    }
  }

  /// Whether a path is that of a folder that is itself no Apple cache.
  private static func isFolderOfCaches(_ path: String) -> Bool {
    guard let status = try? FileStatus.of(path), status.kind == .directory else { return false }
    return (try? FileStatus.of("\(path)/Cache.db")) == nil
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
    let task = VerbHints(before: rest)
    if let hint = task.hint(for: word) ?? hints[word].map(task.filled) { return hint }
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
