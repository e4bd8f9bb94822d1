@testable import AdminCommands
import TestSupport
import Testing

/// Operands and values of options as people write them first: each works, or gets a command line that works.
@Suite struct ArgumentGuessTests {
  @Test(arguments: [
    // Operands.
    (
      ["list", "shop", "a.example"], "'a.example' is neither a URL nor an id",
      "did you mean: urlcache-admin list shop --host a.example"
    ),
    (
      ["purge", "shop", "a.example", "-n"], "'a.example' is neither a URL nor an id",
      "did you mean: urlcache-admin purge shop --host a.example -n"
    ),
    (
      ["purge", "shop", "-n", "--", "a.example"], "'a.example' is neither a URL nor an id",
      "did you mean: urlcache-admin purge shop -n --host a.example"
    ),
    (
      ["list", "shop", "a.example/1"], "'a.example/1' is neither a URL nor an id",
      "did you mean: urlcache-admin list shop --prefix https://a.example/1"
    ),
    (
      ["list", "shop", "*.png"], "'*.png' is neither a URL nor an id",
      "did you mean: urlcache-admin list shop --glob '*.png'"
    ),
    (
      ["list", "shop", "img?.png"], "'img?.png' is neither a URL nor an id",
      "did you mean: urlcache-admin list shop --glob '*img?.png'"
    ),
    (
      ["grep", "text", "shop", "shop"], "'shop' is a second cache, but the command takes only one",
      "run the command once for each: urlcache-admin grep text shop; urlcache-admin grep text shop"
    ),
    (
      ["rules", "test", "shop", "a.example"], "'a.example' is neither a URL nor an id",
      "did you mean: urlcache-admin rules test shop --host a.example"
    ),
    (
      ["body", "shop", "a.example"], "'a.example' is neither a URL nor an id",
      "for a part of a URL use '--glob' or '--prefix'; a cache is the first operand, or follows '-c'"
    ),
    (
      ["list", "shop", "x.csv"], "'x.csv' is neither a URL nor an id",
      "for a part of a URL use '--glob' or '--prefix'; a cache is the first operand, or follows '-c'"
    ),
    (
      ["rules", "shop"], "'rules' has no subcommand 'shop'",
      "did you mean: urlcache-admin rules test shop"
    ),
    (
      ["policy", "shop", "1"], "'rules' has no subcommand 'shop'",
      "did you mean: urlcache-admin rules test shop 1"
    ),
    (
      ["purge", "a.example", "shop", "-n"],
      "no cache 'a.example': no such file, and no cache of this name in the configuration",
      "did you mean: urlcache-admin purge --host a.example shop -n"
    ),
    (
      ["list", "*.png"],
      "no cache '*.png': no such file, and no cache of this name in the configuration",
      "find caches with: urlcache-admin discover"
    ),
    // Missing arguments.
    (
      ["export", "shop"], "'export' needs '-o' and the name of the new file",
      "write: urlcache-admin export shop -o NEW.tar.zst; '-o -' is standard output"
    ),
    (
      ["export", "shop", "--har", "--", "1"],
      "'export' has no option '--har', because the file name determines the format",
      "write: urlcache-admin export shop -o NEW.har -- 1"
    ),
    (
      ["report", "shop"], "'report' needs '-o' and the name of the new file",
      "write: urlcache-admin report shop -o report.html; '-o -' is standard output"
    ),
    (
      ["diff", "shop"], "'diff' compares two caches or archives, but only one was given",
      "name both: urlcache-admin diff shop OTHER"
    ),
    (
      ["diff"], "'diff' compares two caches or archives, but none were given",
      "name both: urlcache-admin diff OLD NEW"
    ),
    (
      ["import"], "'import' needs an archive or another cache to import from",
      "write: urlcache-admin import FILE -c CACHE"
    ),
    (
      ["restore", "x.tar"], "no cache given to import into",
      "write: urlcache-admin import x.tar -c CACHE"
    ),
    (
      ["apply"], "'apply' needs a plan file",
      "write a plan with: urlcache-admin purge CACHE --stale --plan plan.json"
    ),
    (
      ["completion"], "'completion' needs <shell>",
      "for example: urlcache-admin completion bash"
    ),
    (
      ["config", "unset"], "'config unset' needs <setting>",
      "for example: urlcache-admin config unset max-age"
    ),
    // Values and options.
    (
      ["list", "-5", "shop"], "'list' has no option '-5'",
      "did you mean: urlcache-admin list --limit 5 shop"
    ),
    (
      ["head", "-20", "shop"], "'list' has no option '-20'",
      "did you mean: urlcache-admin list --limit 20 shop"
    ),
    (
      ["grep", "-3", "text", "shop"], "'grep' has no option '-3'",
      "did you mean: urlcache-admin grep --context 3 text shop"
    ),
    (
      ["list", "shop", "--limit=all"], "'--limit': 'all' is not a number",
      "without '--limit', all entries are listed"
    ),
    (
      ["usage", "shop", "--limit", "all"], "'--limit': 'all' is not a number",
      "write a large number, such as '--limit 1000000'"
    ),
    (
      ["list", "shop", "--sort", "largest"], "'largest' is not a column to sort by",
      "did you mean: urlcache-admin list shop --sort=-size"
    ),
    (
      ["list", "--sort=-newest", "shop"], "'-newest' is not a column to sort by",
      "did you mean: urlcache-admin list --sort=age shop"
    ),
    (
      ["list", "shop", "--status", "!200"], "'!200' is not a status",
      "exclude it with '--where': urlcache-admin list shop --where 'status != 200'"
    ),
    (
      ["list", "shop", "--status=!200,5xx"], "'!200,5xx' is not a status",
      "exclude it with '--where': urlcache-admin list shop --where '!(status in (200,5xx))'"
    ),
    (
      ["usage", "shop", "--by", "hots"], "'--by': unknown value 'hots'", "did you mean 'host'?"
    ),
    (
      ["list", "shop", "-f", "xml"], "'-f': unknown value 'xml'",
      "use one of: table, json, ndjson, csv, tsv, urls, ncdu"
    ),
    (
      ["report", "shop", "-o", "-", "--format=pdf"], "'--format': unknown value 'pdf'",
      "use one of: html, markdown"
    ),
    (
      ["watch", "shop", "-f", "tabel"], "'-f': unknown value 'tabel'",
      "did you mean 'table'? The formats are: table, json, ndjson"
    ),
    (
      ["list", "shop", "-n", "x"], "'-n': 'x' is not a number",
      "write '-n 10', for example"
    ),
    (
      ["watch", "-f", "shop"], "'-f' takes a format, but 'shop' is not one",
      "'watch' always follows the cache; write: urlcache-admin watch shop"
    ),
    (
      ["list", "shop", "--output", "x y.csv"],
      "'list' has no option '--output', because it writes to standard output",
      "did you mean: urlcache-admin list shop --format csv > 'x y.csv'"
    ),
    (
      ["list", "-o", "x.txt", "shop"],
      "'list' has no option '-o', because it writes to standard output",
      "did you mean: urlcache-admin list shop > x.txt"
    ),
    (
      ["check", "shop", "-o", "x.json", "-f", "json"],
      "'check' has no option '-o', because it writes to standard output",
      "did you mean: urlcache-admin check shop -f json > x.json"
    ),
  ])
  func `a guess gets the right command line`(
    _ words: [String], _ message: String, _ hint: String
  ) throws {
    let result = try run(words)
    // A command that could not be parsed may have asked for errors as JSON.
    guard !words.contains("json") else {
      #expect(result.messages.contains(#""message":"\#(message)","hint":"\#(hint)""#))
      return
    }
    let isMissing = message.hasPrefix("no cache '")
    #expect(
      result
        == CommandLineResult(
          status: isMissing ? .noInput : .usage, messages: "error: \(message)\nhint: \(hint)\n"),
      "\(result.messages)")
    try expectToRun(hint)
  }

  @Test func `a pattern among URLs gets the option for it`() throws {
    let result = try run(["list", "shop", "https://a.example/*"])
    #expect(result.status == .no)
    #expect(
      result.messages.hasSuffix(
        """
        error: no entry has the URL 'https://a.example/*'
        hint: '*' in a URL is literal; for a pattern use '--glob'

        """))
  }

  @Test(arguments: [
    (["tail", "-f", "shop", "--for", "0s"], ["watch", "shop", "--for", "0s"]),
    (["tail", "-F", "shop", "--for", "0s"], ["watch", "shop", "--for", "0s"]),
    (
      ["tail", "-f", "json", "shop", "--for", "0s"], ["watch", "-f", "json", "shop", "--for", "0s"]
    ),
  ])
  func `tail needs no option to follow`(_ words: [String], _ same: [String]) {
    #expect(LeadingOptions.moved(behindTheVerbOf: words) == same)
  }

  /// Runs the command lines in a hint, except those with names of things that are not there, and those that wait.
  private func expectToRun(_ hint: String) throws {
    for words in GuessedCommandLine.suggestions(in: hint)
    where !["import", "config", "watch", "discover"].contains(words[0])
      && Set(words).isDisjoint(with: ["OTHER", "OLD", "plan.json"])
    {
      let result = try run(words)
      #expect(result.status != .usage && result.removed == [], "\(words): \(result)")
    }
  }

  private func run(_ words: [String]) throws -> CommandLineResult {
    try GuessedCommandLine.run(words)
  }
}
