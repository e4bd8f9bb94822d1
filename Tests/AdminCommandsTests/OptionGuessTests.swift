@testable import AdminCommands
import TestSupport
import Testing

/// Options and operands of other programs, which work or get a hint that works.
@Suite struct OptionGuessTests {
  @Test(arguments: [
    (
      ["list", "shop", "--largest"],
      "did you mean: urlcache-admin list shop --sort=-size --limit 10"
    ),
    (
      ["list", "--largest", "3", "shop"],
      "did you mean: urlcache-admin list --sort=-size --limit 3 shop"
    ),
    (["list", "shop", "--top=5"], "did you mean: urlcache-admin list shop --sort=-size --limit=5"),
    (["list", "-S", "shop"], "did you mean: urlcache-admin list --sort=-size shop"),
    (["ls", "-l", "shop"], "did you mean: urlcache-admin ls --wide shop"),
    (
      ["list", "shop", "--content-type", "a b"],
      "did you mean: urlcache-admin list shop --mime 'a b'"
    ),
    (["list", "shop", "--sort-by", "size"], "did you mean: urlcache-admin list shop --sort size"),
    (
      ["usage", "shop", "--biggest"],
      "list the largest entries with 'urlcache-admin list shop --sort=-size --limit 10'"
    ),
    (["usage", "shop", "--top", "3"], "did you mean: urlcache-admin usage shop --limit 3"),
    (["list", "shop", "--metrics", "x"], "measure a cache with 'urlcache-admin metrics shop'"),
    (["list", "shop", "--limti", "3"], "did you mean '--limit'?"),
    (["list", "--redact-url"], "did you mean '--redact-urls'?"),
    (["list", "shop", "--wit", "3s"], "did you mean '--wait'?"),
    // One letter less than an option of a command that changes something.
    (
      ["purge", "shop", "--dry", "--all"], "did you mean: urlcache-admin purge shop --dry-run --all"
    ),
    (
      ["enforce", "shop", "--size", "1G"], "did you mean: urlcache-admin enforce shop --max-size 1G"
    ),
    (["grep", "-t", "text", "a", "shop"], "did you mean: urlcache-admin grep --mime text a shop"),
    (["grep", "--include", "x", "a", "shop"], "did you mean: urlcache-admin grep --glob x a shop"),
    (["grep", "-v", "a", "shop"], "only matches are shown; '-l' lists the entries with matches"),
    (
      ["enforce", "shop", "--exclude-host", "a.example"],
      "--where 'host != \"HOST\"' leaves a host out once; a rule with match.host and action = \"keep\" keeps it always"
    ),
    (["purge", "shop", "--exclude-host=b"], "--where 'host != \"HOST\"' leaves a host out"),
    (
      ["pin", "shop", "--host", "b"],
      "pins are URLs; a rule with match.host and action = \"keep\" keeps the entries of a host"
    ),
    // Options that only look a little alike are not suggested.
    (["body", "shop", "1", "--limit"], "list its options with 'urlcache-admin body --help'"),
    (["show", "shop", "1", "--sort"], "list its options with 'urlcache-admin show --help'"),
    (["list", "shop", "--bad"], "list its options with 'urlcache-admin list --help'"),
    (["list", "shop", "-x"], "list its options with 'urlcache-admin list --help'"),
  ])
  func `an unknown option gets one hint`(_ words: [String], _ hint: String) throws {
    let result = try run(words)
    #expect(result.status == .usage && result.output == "")
    let lines = result.messages.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 3 && lines[0].contains(" has no option '-"), "\(result.messages)")
    #expect(lines[1] == "hint: \(hint)")
    // A command line in a hint can be parsed.
    let mark = "did you mean: urlcache-admin "
    guard hint.hasPrefix(mark) else { return }
    let line = hint.dropFirst(mark.count).replacing("'a b'", with: "text").split(separator: " ")
    #expect(try run(line.map(String.init)).status != .usage, "\(hint)")
  }

  @Test(arguments: [
    (["export", "shop", "a b.har"], "urlcache-admin export shop -o 'a b.har'"),
    (["report", "shop", "x.html"], "urlcache-admin report shop -o x.html"),
  ])
  func `a new file without its option gets the command line`(
    _ words: [String], _ line: String
  ) throws {
    #expect(
      try run(words).messages
        == "error: '\(words[0])' needs '-o' and the new file\nhint: did you mean: \(line)\n")
    #expect(
      try run([words[0], "shop"]).messages.hasPrefix(
        "error: '\(words[0])' needs '-o' and the name of the new file\nhint: write: "))
  }

  @Test func `the cache to import into needs its option`() throws {
    #expect(
      try run(["import", "x.tar", "new", "--yes"])
        == CommandLineResult(
          status: .usage,
          messages: """
            error: 'new' is no cache, no URL and no id
            hint: to create a cache there: urlcache-admin import x.tar -c new --yes

            """))
  }

  @Test(arguments: [
    (["ls", "-lah", "shop"], "'list' has no option '-lah'"),
    (["list", "-header", "shop"], "'list' has no option '-header'"),
    (["purge", "shop", "-yh", "--all"], "'-yh' contains '-h', which only shows help"),
    (["purge", "shop", "-nh"], "'-nh' contains '-h', which only shows help"),
  ])
  func `letters with an h are no request for help`(_ words: [String], _ message: String) throws {
    let result = try run(words)
    #expect(result.status == .usage && result.output == "" && result.removed == [])
    #expect(result.messages.hasPrefix("error: \(message)\nhint: "), "\(result.messages)")
  }

  @Test(arguments: [
    ["list", "-h"], ["list", "shop", "--help"], ["rules", "-h"], ["rules", "--help"], ["-h"],
    ["help", "list"], ["help"], ["--version"], ["list", "shop", "--sort", "-host"],
    ["list", "--generate-completion-script", "bash"],
  ])
  func `help that was asked for is shown`(_ words: [String]) throws {
    let result = try run(words)
    #expect(result.status == .done && result.output != "", "\(result)")
  }

  @Test func `a sorted list says which entries come first if it is cut`() throws {
    let line = { (words: [String]) in try self.run(["list", "shop"] + words).messages }
    #expect(
      try line(["--sort", "size", "-n", "1"]) == """
        1 shown of 3 entries, smallest first; 1000 B shown
        hint: list the largest first with '--sort=-size'

        """)
    #expect(
      try line(["--sort=-size", "-n", "1"])
        == "1 shown of 3 entries, largest first; 2.9 KiB shown\n")
    #expect(try line(["--sort", "size", "-n", "3"]) == "3 of 3 entries, 5.9 KiB\n")
    #expect(
      try line(["--sort", "age", "--limit", "2", "--status", "200"])
        == "2 of 3 entries, 2.9 KiB\n")
    #expect(
      try line(["--sort=-age", "--reverse", "--limit", "1"])
        == "1 shown of 3 entries, newest first; 1000 B shown\n")
    #expect(try line(["--sort", "url", "-n", "1"]) == "1 shown of 3 entries; 1000 B shown\n")
    #expect(try line(["--sort", "size", "-n", "1", "-q"]) == "")
  }

  @Test(arguments: [
    ["-r", "a.ex", "shop"], ["-rn", "a.ex", "shop"], ["-RnHE", "a.ex", "shop"],
    ["-e", "a.ex", "shop"], ["--regexp=a.ex", "shop"], ["-P", "a.ex", "shop"],
    ["-na", "a.ex", "shop"], ["shop", "-e", "a.ex"],
  ])
  func `grep accepts options of grep that ask for what it does`(_ words: [String]) throws {
    let result = try run(["grep"] + words)
    #expect(try result == run(["grep", "a.ex", "shop"]))
    #expect(result.status == .done && result.output.contains("https://a.example/1"))
    #expect(
      try run(["grep", "--files-with-matches"] + words) == run(["grep", "-l", "a.ex", "shop"]))
  }

  @Test func `the pattern of '-e' may look like an option or a cache`() throws {
    #expect(try run(["grep", "-e", "-l", "shop"]).status == .no)
    #expect(try run(["grep", "-e", "shop", "shop", "1"]).status == .no)
    #expect(try run(["grep", "-e", "example/1", "shop", "1", "2"]).output.contains("1"))
    #expect(try run(["grep", "-e", "a", "-e", "b", "shop"]).messages.contains("-E 'ONE|OTHER'"))
  }

  @Test(arguments: [
    (
      ["shop", "text"], "the pattern comes first, but 'shop' is a cache",
      "write: urlcache-admin grep text shop"
    ),
    (
      ["-i", "shop", "a b"], "the pattern comes first, but 'shop' is a cache",
      "write: urlcache-admin grep -i 'a b' shop"
    ),
    (
      ["shop", "404"], "the pattern comes first, but 'shop' is a cache",
      "write: urlcache-admin grep 404 shop"
    ),
    (
      ["shop"], "'shop' is a cache, but the pattern comes first",
      "write: urlcache-admin grep TEXT shop"
    ),
    (
      ["-c", "text", "shop"], "'-c' names the cache, but 'text' is not one",
      "to count matches write: urlcache-admin grep --count text shop"
    ),
    (["-c", "shop"], "no pattern given", "'-c' names the cache; to count matches use '--count'"),
    (
      [], "no pattern given",
      "give the text to find, and the cache: 'urlcache-admin grep TEXT CACHE'"
    ),
  ])
  func `operands of grep in another order get the right command line`(
    _ words: [String], _ message: String, _ hint: String
  ) throws {
    #expect(
      try run(["grep"] + words)
        == CommandLineResult(status: .usage, messages: "error: \(message)\nhint: \(hint)\n"))
  }

  @Test(arguments: [["shop", "shop"], ["shop", "-c", "shop"], ["-c", "shop", "shop", "1"]])
  func `the name of a cache can be the pattern`(_ words: [String]) throws {
    #expect(try run(["grep"] + words) == CommandLineResult(status: .no))
  }

  private func run(_ words: [String]) throws -> CommandLineResult {
    try GuessedCommandLine.run(words)
  }
}
