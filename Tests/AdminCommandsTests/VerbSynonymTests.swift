@testable import AdminCommands
import ArgumentParser
import TestSupport
import Testing

/// Words that are no commands, but that people type first: each works, or gets a hint that works.
@Suite struct VerbSynonymTests {
  @Test(arguments: [
    ("rm", "purge"), ("delete", "purge"), ("remove", "purge"), ("clean", "purge"),
    ("prune", "purge"), ("evict", "purge"), ("stats", "usage"), ("info", "usage"),
    ("df", "usage"), ("du", "usage"), ("size", "usage"),
    ("undelete", "recover"), ("why", "explain"), ("cat", "body"), ("get", "body"),
    ("verify", "check"),
    ("fsck", "check"), ("ls", "list"), ("trim", "enforce"), ("policy", "rules"),
  ])
  func `a synonym is the command`(_ synonym: String, _ verb: String) throws {
    for words in [["/tmp"], ["-c", "shop", "--format", "json"], ["-c", "shop", "1", "-n"], []] {
      for before in [[], ["-c", "shop"]] {
        let (first, second) = try (run(before + [synonym] + words), run(before + [verb] + words))
        #expect(first.status == second.status && first.output == second.output)
        // Hints repeat the command line as it was typed.
        #expect(
          first.messages.replacing(" \(synonym) ", with: " \(verb) ")
            == second.messages.replacing(" \(synonym) ", with: " \(verb) "))
      }
    }
    #expect(try run(["help", synonym]) == run(["help", verb]))
  }

  @Test func `repair is check with an option that removes`() throws {
    let parsed = try URLCacheAdmin.parseAsRoot(
      LeadingOptions.moved(behindTheVerbOf: ["-c", "x", "repair", "/tmp", "-n"]))
    let check = try #require(parsed as? URLCacheAdmin.Check)
    #expect(check.repair?.kinds == RepairKinds.all.kinds)
    #expect(check.operands.first == "/tmp" && check.cache.cache == "x" && check.change.dryRun)
    #expect(try run(["repair", "shop", "-n"]) == run(["check", "--repair", "-c", "shop", "-n"]))
  }

  @Test(arguments: ["version", "-V", "-v"])
  func `the version has several names`(_ word: String) throws {
    #expect(try run([word]) == run(["--version"]))
    #expect(try run([word]).output.hasPrefix("urlcache-admin \(URLCacheAdmin.versionNumber) "))
  }

  @Test(arguments: [
    ("convert", "create a cache with: urlcache-admin import /tmp -c NEW --create apple"),
    ("backup", "write an archive with: urlcache-admin export /tmp -o NEW.tar.zst"),
    ("gc", "see how much unused space there is with: urlcache-admin compact /tmp --dry-run"),
    ("shwo", "did you mean 'show'?"), ("chekc", "did you mean 'check'?"),
    // One letter from 'pin', and nothing that pins.
    ("bin", "list the commands with"), ("fin", "list the commands with"),
    ("pim", "did you mean 'pin'?"), ("purg", "did you mean 'purge'?"),
    ("ring", "list the commands with"),
    ("expore", "did you mean 'export'?"),
    ("undo", "only a backup written with '--backup FILE' can be"),
    // One letter from 'expire' and 'purge', which change something.
    ("expires", "list the commands with"), ("purged", "list the commands with"),
    ("x", "list the commands with"),
  ])
  func `an unknown command gets a hint`(_ word: String, _ hint: String) throws {
    let result = try run([word, "/tmp"])
    #expect(result.status == .usage && result.output == "")
    #expect(
      result.messages.hasPrefix("error: unknown command '\(word)'\nhint: \(hint)"),
      "\(result.messages)")
  }

  @Test func `every command that changes something is suggested last`() {
    for command in URLCacheAdmin.configuration.subcommands where command is any RecordedCommand.Type
    {
      let name = command._commandName
      #expect(VerbSynonyms.changing.contains(name) || name == "check")
    }
  }

  @Test(arguments: [
    (["hosts", "shop"], ["usage", "shop", "--by", "host"]),
    (["hosts", "shop", "--by", "mime"], ["usage", "shop", "--by", "mime"]),
    (["largest", "shop"], ["list", "shop", "--sort=-size", "--limit", "10"]),
    (["biggest", "shop", "--limit", "1"], ["list", "shop", "--sort=-size", "--limit", "1"]),
    (["head", "-n", "2", "shop"], ["list", "shop", "-n", "2"]),
    (["count", "shop", "--", "1"], ["list", "shop", "--count", "1"]),
    (["secrets", "shop"], ["audit", "shop", "--rule", "secret"]),
    (["tokens", "shop"], ["audit", "shop", "--rule", "secret"]),
    (["-c", "shop", "leaks"], ["audit", "-c", "shop", "--rule", "secret"]),
    (["sql", "shop", "SELECT url FROM entries"], ["query", "shop", "SELECT url FROM entries"]),
  ])
  func `a synonym can stand for options`(_ words: [String], _ same: [String]) throws {
    let result = try run(words)
    #expect(result == (try run(same)))
    #expect(result.status == .done && result.output + result.messages != "")
  }

  @Test(arguments: [
    ("convert a.har b.warc.gz", "export a.har -o b.warc.gz"),
    ("convert shop out.tar --host a.example", "export shop -o out.tar --host a.example"),
    ("migrate shop X.SQLite", "export shop -o X.SQLite"),
    ("backup shop out.tar.zst", "export shop -o out.tar.zst"),
    ("convert x.tar new", "import x.tar -c new --create apple"),
    ("convert x.har new foundation -n", "import x.har -c new --create foundation -n"),
    ("convert shop new --to foundation", "import shop -c new --create foundation"),
    ("copy shop new --create apple", "import shop -c new --create apple"),
    ("convert --help", "export --help"), ("restore x.tar -c shop", "import x.tar -c shop"),
  ])
  func `a conversion is an export or an import`(_ line: String, _ same: String) {
    let words = line.split(separator: " ").map(String.init)
    #expect(
      LeadingOptions.moved(behindTheVerbOf: words) == same.split(separator: " ").map(String.init))
  }

  @Test(arguments: [
    (
      [],
      "create a cache with: urlcache-admin import OLD -c NEW --create apple, or with:"
        + " urlcache-admin import OLD -c NEW --create foundation; write an archive with:"
        + " urlcache-admin export OLD -o NEW.tar.zst"
    ),
    (
      ["shop", "a b"],
      "create a cache with: urlcache-admin import shop -c 'a b' --create apple, or with:"
        + " urlcache-admin import shop -c 'a b' --create foundation"
    ),
  ])
  func `a guess at a conversion gets the command lines for it`(
    _ words: [String], _ hint: String
  ) throws {
    #expect(
      try run(["convert"] + words).messages == "error: unknown command 'convert'\nhint: \(hint)\n")
  }

  @Test(arguments: [
    (
      ["config", "get", "max-size"], "'config' has no subcommand 'get'",
      "show all settings with 'urlcache-admin config list'"
    ),
    (["config", "cehck"], "'config' has no subcommand 'cehck'", "did you mean 'check'?"),
    (
      ["config", "other"], "'config' has no subcommand 'other'",
      "use one of: list, check, set, unset"
    ),
    (
      ["rules", "list"], "'rules' has no subcommand 'list'",
      "did you mean 'urlcache-admin rules test'?"
    ),
    (["rules"], "'rules' needs a subcommand", "did you mean 'urlcache-admin rules test'?"),
  ])
  func `a missing or unknown subcommand gets a hint`(
    _ words: [String], _ message: String, _ hint: String
  ) throws {
    #expect(
      try run(words)
        == CommandLineResult(status: .usage, messages: "error: \(message)\nhint: \(hint)\n"))
  }

  @Test(arguments: [
    (["config", "show"], ["config", "list"]), (["config"], ["config", "list"]),
    (["config", "verify"], ["config", "check"]),
  ])
  func `a synonym is the subcommand`(_ words: [String], _ same: [String]) throws {
    #expect(try run(words) == run(same))
    #expect(try run(words).status == .done)
  }

  private func run(_ words: [String]) throws -> CommandLineResult {
    try GuessedCommandLine.run(words)
  }
}
