@testable import AdminCommands
import Files
import TestSupport
import Testing

/// What people type before they read the help, and what they see: a result, or a hint whose command lines work.
///
/// `@/` stands for a folder with the archive `there.har`.
@Suite struct NaturalGuessTests {
  /// What a guess leads to.
  enum Outcome: Sendable {
    /// The same as another command line, which works.
    case same(String)
    /// An error with a hint.
    case error(String, hint: String)
  }

  // MARK: Verbs

  @Test(
    arguments: [
      ("expired shop", .same("list shop --stale")),
      ("expired shop --fresh", .same("list shop --stale --fresh")),
      ("pinned shop", .same("list shop --pinned")),
      (
        "keep shop",
        .error(
          "unknown command 'keep'",
          hint: "list pinned URLs with 'urlcache-admin pin shop'; to pin URLs, write them after"
            + " the cache")
      ),
      (
        "limit shop 100M",
        .error(
          "unknown command 'limit'",
          hint: "see what a limit would remove with: urlcache-admin enforce shop --max-size 100M"
            + " --dry-run; leave out '--dry-run' to remove it")
      ),
      (
        "undo shop",
        .error(
          "unknown command 'undo'",
          hint: "only a backup written with '--backup FILE' can be restored:"
            + " 'urlcache-admin import FILE -c shop'; look for remains of other entries"
            + " with 'urlcache-admin recover shop'")
      ),
    ] as [(String, Outcome)])
  func `a word that is no command`(_ line: String, _ outcome: Outcome) throws {
    try check(line, outcome)
  }

  // MARK: Moving entries

  @Test(
    arguments: [
      ("import shop @/there.har -n", .same("import @/there.har -c shop -n")),
      ("import @/there.har shop -n", .same("import @/there.har -c shop -n")),
      (
        "import @/there.har shop https://a.example/x -n",
        .same("import @/there.har -c shop https://a.example/x -n")
      ),
      ("restore shop @/there.har -n", .same("import @/there.har -c shop -n")),
      (
        "import shop shop",
        .error(
          "'shop' and 'shop' are both caches",
          hint: "to add the entries of the first to the second: urlcache-admin import shop -c shop")
      ),
      (
        "import @/there.har Sources --yes",
        .error(
          "'Sources' is both a configured cache and a file in this folder",
          hint: "write '-c Sources' for the configured cache, or './Sources' for the file")
      ),
      (
        "import Sources @/there.har --yes",
        .error(
          "'Sources' is both a configured cache and a file in this folder",
          hint: "write '-c Sources' for the configured cache, or './Sources' for the file")
      ),
      (
        "diff shop Sources",
        .error(
          "'Sources' is both a configured cache and a file in this folder",
          hint: "write '/other' for the configured cache, or './Sources' for the file")
      ),
      (
        "import @/there.har @/there.har",
        .error(
          "'@/there.har' and '@/there.har' are both archives",
          hint: "import one after the other: urlcache-admin import @/there.har -c CACHE")
      ),
      (
        "import new @/there.har --yes",
        .error(
          "there is no cache at 'new'",
          hint: "to create it: urlcache-admin import @/there.har -c new --yes")
      ),
      (
        "import new gone.tar",
        .error(
          "there is no cache at 'new'", hint: "to create it: urlcache-admin import gone.tar -c new")
      ),
      (
        "import @/there.har new",
        .error(
          "'new' is no cache, no URL and no id",
          hint: "to create a cache there: urlcache-admin import @/there.har -c new")
      ),
      (
        "export shop --to @/new.xyz",
        .error(
          "cannot tell the archive format from the name '@/new.xyz'",
          hint:
            "end it with .tar.zst, .tar.gz, .tar, .zip, .har, .warc.gz, .warc, .wacz or .sqlite,"
            + " or give '--format'")
      ),
      (
        "export shop --out @/new.tar",
        .error(
          "'export' has no option '--out'",
          hint: "did you mean: urlcache-admin export shop --output @/new.tar")
      ),
      (
        "export shop --file=@/new.tar",
        .error(
          "'export' has no option '--file'",
          hint: "did you mean: urlcache-admin export shop --output=@/new.tar")
      ),
      (
        "report shop --to @/new.html",
        .error(
          "'report' has no option '--to'",
          hint: "did you mean: urlcache-admin report shop --output @/new.html")
      ),
    ] as [(String, Outcome)])
  func `a cache and an archive in the order that comes to mind`(
    _ line: String, _ outcome: Outcome
  ) throws {
    try check(line, outcome)
  }

  @Test func `an archive that is missing is reported, and not its cache`() throws {
    let result = try GuessedCommandLine.run(["import", "shop", "gone.tar"])
    #expect(result.status == .noInput)
    #expect(result.messages.hasPrefix("error: 'gone.tar': No such file"), "\(result.messages)")
  }

  // MARK: -

  private func check(_ line: String, _ outcome: Outcome) throws {
    let folder = try TemporaryDirectory(in: "/tmp")
    try OpenFile(creating: "\(folder.path)/there.har").write(Array(Self.archive.utf8))
    let filled = { (text: String) in text.replacing("@/", with: "\(folder.path)/") }
    let result = try GuessedCommandLine.run(Self.words(filled(line)))
    switch outcome {
    case .same(let other):
      #expect(try result == GuessedCommandLine.run(Self.words(filled(other))))
      #expect(
        [.done, .no].contains(result.status) && result.output + result.messages != "", "\(result)")
    case .error(let message, let hint):
      let messages = "error: \(filled(message))\nhint: \(filled(hint))\n"
      #expect(result == CommandLineResult(status: .usage, messages: messages))
      for words in GuessedCommandLine.suggestions(
        in: filled(hint), archive: "\(folder.path)/there.har")
      {
        let result = try GuessedCommandLine.run(words)
        #expect(result.status != .usage, "\(words): \(result.messages)")
      }
    }
  }

  private static func words(_ line: String) -> [String] {
    line.split(separator: " ").map(String.init)
  }

  private static let archive = """
    {"log":{"version":"1.2","creator":{"name":"t","version":"1"},"entries":[]}}
    """
}
