import Administration
import ArgumentParser
import Bytes
import Rendering
import ResponseArchives

/// Names that users of other programs try first.
enum VerbSynonyms {
  /// The words that replace a verb; the names that the help shows are aliases of their commands instead.
  private static let replacements: [String: [String]] = [
    "delete": ["purge"], "remove": ["purge"], "clean": ["purge"], "prune": ["purge"],
    "evict": ["purge"],
    "stats": ["usage"], "info": ["usage"], "df": ["usage"],
    "search": ["grep"], "cat": ["body"], "get": ["body"],
    "tail": ["watch"], "monitor": ["watch"],
    "verify": ["check"], "fsck": ["check"], "repair": ["check", "--repair"],
    "policy": ["rules"],
    "version": ["--version"], "-V": ["--version"], "-v": ["--version"],
  ]

  /// The hints for words that no command has, but that have a clear meaning.
  private static let hints: [String: String] = [
    "backup": "write an archive with 'urlcache-admin export CACHE -o NEW.tar.zst'",
    "snapshot": "write an archive with 'urlcache-admin export CACHE -o NEW.tar.zst'",
    "save": "write an archive with 'urlcache-admin export CACHE -o NEW.tar.zst'",
    "dump": "write an archive with 'urlcache-admin export CACHE -o NEW.tar.zst'",
    "restore": "read an archive with 'urlcache-admin import ARCHIVE -c CACHE'",
    "load": "read an archive with 'urlcache-admin import ARCHIVE -c CACHE'",
    "extract": "write a body with 'urlcache-admin body CACHE ID -o FILE'",
    "hosts": "sum up the hosts with 'urlcache-admin usage CACHE --by host'",
    "secrets": "find secrets with 'urlcache-admin audit CACHE --rule secret'",
    "tokens": "find secrets with 'urlcache-admin audit CACHE --rule secret'",
    "undelete": "did you mean 'recover'?", "undo": "did you mean 'recover'?",
    "copy": "create a cache with 'urlcache-admin import OLD -c NEW --create apple'",
    "count": "count entries with 'urlcache-admin list CACHE --count'",
    "head": "list some entries with 'urlcache-admin list CACHE --limit 10'",
    "largest": "list the largest entries with 'urlcache-admin list CACHE --sort=-size --limit 10'",
    "biggest": "list the largest entries with 'urlcache-admin list CACHE --sort=-size --limit 10'",
    "open": "did you mean 'show'?",
    "find": "select with 'urlcache-admin list --glob', '--host' or '--where',"
      + " or search bodies with 'urlcache-admin grep'",
    "view": "did you mean 'show'?", "inspect": "did you mean 'show'?",
    "describe": "did you mean 'show'?", "print": "did you mean 'show'?",
    "size": "did you mean 'usage'?", "status": "did you mean 'usage'?",
    "summary": "did you mean 'usage'?", "top": "did you mean 'usage'?",
    "why": "did you mean 'explain'?", "compare": "did you mean 'diff'?",
    "sql": "did you mean 'query'?",
    "scan": "did you mean 'discover'?", "locate": "did you mean 'discover'?",
    "doctor": "did you mean 'check'?", "lint": "did you mean 'check'?",
    "vacuum": "did you mean 'compact'?", "gc": "did you mean 'compact'?",
    "limit": "did you mean 'enforce'?", "refresh": "did you mean 'revalidate'?",
    "update": "did you mean 'revalidate'?", "keep": "did you mean 'pin'?",
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
      return SubcommandHints.replaced(in: words)
    }
    words[index] = replacement[0]
    // The option follows the operands, because it would take the next one for its value.
    if index == 0 {
      words.insert(
        contentsOf: replacement.dropFirst(), at: words.firstIndex(of: "--") ?? words.endIndex)
    }
    return words
  }

  /// Returns a hint for a word that is no command.
  ///
  /// - Parameter rest: The words after it.
  static func hint(for word: String, before rest: [String]) -> String {
    if ["convert", "migrate"].contains(word) { return conversion(rest) }
    if let hint = hints[word] { return hint }
    if word.utf8.contains(UInt8(ascii: "/")) || word.utf8.contains(UInt8(ascii: ".")) {
      return "name a command first: 'urlcache-admin list \(word)'"
    }
    let commands = URLCacheAdmin.configuration.subcommands.filter { $0.configuration.shouldDisplay }
    // A command that only looks comes first, and one that changes something must begin with the same letter: a
    // truncated 'find' must not suggest 'pin'.
    for isChanging in [false, true] {
      let names = commands.filter { changing.contains($0._commandName) == isChanging }
        .flatMap { [$0._commandName] + $0.configuration.aliases }
        .filter { !isChanging || $0.utf8.first == word.utf8.first }
      if let nearest = Spelling.nearest(to: word, among: names) {
        return "did you mean '\(nearest)'?"
      }
    }
    return "list the commands with 'urlcache-admin --help'"
  }

  /// Returns the command lines that convert a cache or an archive.
  ///
  /// - Parameter words: The operands of the guess: what to convert, and the new cache or archive.
  private static func conversion(_ words: [String]) -> String {
    let operands = words.filter { word in
      word.utf8.first != UInt8(ascii: "-") && !["apple", "foundation"].contains(word)
    }
    func word(_ index: Int, or placeholder: String) -> String {
      index < operands.count ? ShellText.word(ByteString(operands[index])) : placeholder
    }
    let source = word(0, or: "OLD")
    let extensions = ExportFormat.extensions { _ in true }
    func isArchive(_ path: String) -> Bool {
      extensions.contains { path.utf8.reversed().starts(with: ".\($0)".utf8.reversed()) }
    }
    let export = "urlcache-admin export \(source) -o "
    let formats = ["apple", "foundation"].filter(words.contains)
    let create = "urlcache-admin import \(source) -c \(word(1, or: "NEW")) --create "
    if operands.count > 1, isArchive(operands[1]) {
      return "write an archive with: \(export)\(word(1, or: ""))"
    }
    let cache =
      "create a cache with: \(create)\(formats.first ?? "apple")"
      + (formats.isEmpty ? ", or with --create foundation" : "")
    return operands.count > 1 || operands.first.map(isArchive) ?? false
      ? cache : "\(cache); write an archive with: \(export)NEW.har"
  }
}
