import Bytes
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
    "fix": "look for problems with: urlcache-admin check CACHE"
      + "; see what a repair would do with: urlcache-admin check CACHE --repair --dry-run",
    "shrink": "see what unused pages would free with: urlcache-admin compact CACHE --dry-run"
      + "; what a limit would remove with: urlcache-admin enforce CACHE --max-size 100MiB --dry-run",
    "schedule": timer, "cron": timer, "nightly": timer,
    "har": "write a HAR with: urlcache-admin export CACHE -o NEW.har",
    "html": "write a report as an HTML page with: urlcache-admin report CACHE -o report.html",
    "demo": "the program 'sample-cache', which is built from the same sources, makes a cache to try"
      + " things with: sample-cache --entries 2000 --seed 1 demo",
  ]

  private static let timer =
    "see what a timer would remove with: urlcache-admin enforce CACHE --max-size 100MiB --dry-run"
    + "; a timer needs '--yes' instead of '--dry-run' (see 'scheduling.md' in the documentation)"

  /// Returns the hint for a word; `nil` if there is none.
  func hint(for word: String) -> String? {
    if word == "man" { return manual }
    guard let hint = Self.hints[word] else { return nil }
    return hint.split(separator: "CACHE", omittingEmptySubsequences: false)
      .joined(separator: cache)
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
