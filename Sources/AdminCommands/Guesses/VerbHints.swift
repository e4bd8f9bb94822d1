import Administration
import Bytes
import Files
import Rendering

/// Hints for words that are no command, but that name a task: each shows a command line that only looks, or that writes a
/// new file.
struct VerbHints {
  /// The words after the verb.
  private let rest: [String]

  /// Creates the hints for a command line.
  ///
  /// - Parameter rest: The words after the verb.
  init(before rest: [String]) {
    self.rest = rest
  }

  /// The hints; `CACHE` stands for the cache of the command line.
  private static let hints: [String: String] = [
    "clear": "see what would be removed with: urlcache-admin purge CACHE --all --dry-run",
    "vacuum": compaction, "gc": compaction,
    "limit": "see what a limit would remove with: urlcache-admin enforce CACHE --max-size 100MiB"
      + " --dry-run; leave out '--dry-run' to remove it",
    "rebuild": repair, "rebuild-index": repair, "fix": repair,
    "tables": tables, "schema": tables,
    "shrink": "see how much unused space there is with: urlcache-admin compact CACHE --dry-run"
      + "; see what a limit would remove with: urlcache-admin enforce CACHE --max-size 100MiB --dry-run",
    "schedule": timer, "cron": timer, "nightly": timer, "install-timer": timer, "timer": timer,
    "har": "write a HAR with: urlcache-admin export CACHE -o NEW.har",
    "html": "write a report as an HTML page with: urlcache-admin report CACHE -o report.html",
    "demo": "make a cache to try things with: urlcache-admin sample demo",
  ]

  private static let compaction =
    "see how much unused space there is with: urlcache-admin compact CACHE --dry-run"

  private static let repair =
    "check the cache with: urlcache-admin check CACHE"
    + "; see what a repair would do with: urlcache-admin check CACHE --repair --dry-run"

  private static let tables = "see the tables and columns with: urlcache-admin query --help"

  private static let timer =
    "see what a timer would remove with: urlcache-admin enforce CACHE --max-size 100MiB --dry-run"
    + "; a timer needs '--yes' instead of '--dry-run' (see 'scheduling.md' in the documentation)"

  /// Returns the hint for a word; `nil` if there is none.
  func hint(for word: String) -> String? {
    if word == "man" { return manual }
    if word == "find", let line = search { return "did you mean: \(line)" }
    let hint = Self.hints[word].map(filled)
    // As in 'limit CACHE 16M'.
    guard word == "limit", rest.count > 1, (try? WrittenValue.size(rest[1])) != nil else {
      return hint
    }
    return hint.map { OptionHints.filled($0, [("100MiB", rest[1])]) }
  }

  /// Returns a hint with the cache of the command line.
  func filled(_ hint: String) -> String { OptionHints.filled(hint, [("CACHE", cache)]) }

  /// The command line for `find CACHE TEXT`; `nil` for other words.
  private var search: String? {
    let operands = rest.prefix { $0.utf8.first != UInt8(ascii: "-") }
    let caches = operands.filter { !$0.isEmpty && (try? FileStatus.of($0)) != nil }
    let texts = operands.filter { !caches.contains($0) }
    guard caches.count == 1, texts.count == 1 else { return nil }
    return OptionHints.commandLine(["grep"] + texts + caches + rest.dropFirst(operands.count))
  }

  /// The hint for the manual, of a command if one is named.
  private var manual: String {
    let page = NamedCommand(in: rest).flatMap { $0.name.split(separator: " ").first }
    return "read the manual with: man urlcache-admin" + (page.map { "-\($0)" } ?? "")
  }

  /// The cache of the command line, as a word of a shell; `CACHE` if none is named.
  private var cache: String {
    var word = rest.first
    if word == "-c" || word == "--cache" { word = rest.dropFirst().first }
    guard let word, !word.isEmpty, word.utf8.first != UInt8(ascii: "-") else { return "CACHE" }
    return ShellText.word(ByteString(word))
  }
}
