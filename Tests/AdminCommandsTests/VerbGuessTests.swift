@testable import AdminCommands
import TestSupport
import Testing

/// Words that name a task or a format instead of a command.
@Suite struct VerbGuessTests {
  @Test(arguments: [
    (["stale", "shop"], ["list", "shop", "--stale"]),
    (["-c", "shop", "fresh"], ["list", "-c", "shop", "--fresh"]),
    (["json", "shop", "1"], ["list", "shop", "1", "--format", "json"]),
    (["csv", "shop"], ["list", "shop", "--format", "csv"]),
    (["csv", "shop", "--format", "tsv"], ["list", "shop", "--format", "tsv"]),
    (["urls", "shop"], ["list", "shop", "--format", "urls"]),
    (["headers", "shop", "1"], ["show", "shop", "1", "--headers"]),
    (["curl", "shop", "1"], ["show", "shop", "1", "--curl"]),
    (["caches", "/none"], ["discover", "/none"]),
  ])
  func `a word for what to look at works`(_ words: [String], _ same: [String]) throws {
    let result = try run(words)
    #expect(result == (try run(same)) && result.removed == [])
    #expect(result.status == .done || words.contains("/none"), "\(result)")
  }

  @Test(arguments: ["cleanup", "clean-up"])
  func `a word for a clean-up removes nothing without a selection`(_ word: String) throws {
    let result = try run([word, "shop", "--yes"])
    #expect(result == (try run(["purge", "shop", "--yes"])))
    #expect(result.status == .usage && result.removed == [])
    #expect(try run([word, "shop", "1", "-n"]) == run(["purge", "shop", "1", "-n"]))
  }

  @Test(arguments: [
    (["clear"], "see what would be removed with: urlcache-admin purge CACHE --all --dry-run"),
    (
      ["clear", "shop", "--yes"],
      "see what would be removed with: urlcache-admin purge shop --all --dry-run"
    ),
    (
      ["-c", "a b", "clear"],
      "see what would be removed with: urlcache-admin purge 'a b' --all --dry-run"
    ),
    (
      ["fix", "shop"],
      "check the cache with: urlcache-admin check shop; see what a repair would do with:"
        + " urlcache-admin check shop --repair --dry-run"
    ),
    (
      ["shrink", "shop"],
      "see how much unused space there is with: urlcache-admin compact shop --dry-run; see what a"
        + " limit would remove with: urlcache-admin enforce shop --max-size 100MiB --dry-run"
    ),
    (["har", "shop"], "write a HAR with: urlcache-admin export shop -o NEW.har"),
    (
      ["html", "shop"],
      "write a report as an HTML page with: urlcache-admin report shop -o report.html"
    ),
    (["man"], "read the manual with: man urlcache-admin"),
    (["man", "ls"], "read the manual with: man urlcache-admin-list"),
    (["man", "rules", "test"], "read the manual with: man urlcache-admin-rules"),
    (
      ["demo"],
      "make a cache to try things with: urlcache-admin sample demo"
    ),
  ])
  func `a word for a task gets a command line`(_ words: [String], _ hint: String) throws {
    let word = words.first == "-c" ? words[2] : words[0]
    #expect(
      try run(words)
        == CommandLineResult(
          status: .usage, messages: "error: unknown command '\(word)'\nhint: \(hint)\n"))
    try expectCommandLinesToRun(in: hint)
  }

  @Test(arguments: ["schedule", "cron", "nightly"])
  func `a word for a timer gets what to try first`(_ word: String) throws {
    let hint =
      "see what a timer would remove with: urlcache-admin enforce shop --max-size 100MiB --dry-run;"
      + " a timer needs '--yes' instead of '--dry-run' (see 'scheduling.md' in the documentation)"
    #expect(
      try run([word, "shop"])
        == CommandLineResult(
          status: .usage, messages: "error: unknown command '\(word)'\nhint: \(hint)\n"))
    try expectCommandLinesToRun(in: hint)
  }

  /// Runs the command lines in a hint, which must only look.
  private func expectCommandLinesToRun(in hint: String) throws {
    for words in GuessedCommandLine.suggestions(in: hint) where words != [] {
      let result = try run(words)
      #expect(result.status != .usage && result.removed == [], "\(words): \(result)")
    }
  }

  private func run(_ words: [String]) throws -> CommandLineResult {
    try GuessedCommandLine.run(words)
  }
}
