@testable import AdminCommands
import TestSupport
import Testing

/// What people who know restic, git, ripgrep, jq and Docker type first for the tasks of the README: each guess works, or gets a
/// command line that works as printed.
@Suite struct NewcomerGuessTests {
  @Test(arguments: [
    // Find caches.
    ("scan /tmp", "discover /tmp"),
    ("find /tmp -name Cache.db", "discover /tmp"),
    // What fills a cache.
    ("top shop", "usage shop --by host"), ("summary shop", "usage shop"),
    ("status shop", "usage shop"),
    ("list shop --sort size:desc", "list shop --sort=-size"),
    ("list shop --type images", "list shop --type image"),
    ("list shop --type png,jpg", "list shop --mime image/png --mime image/jpeg"),
    // Why it is stale.
    ("why-stale shop 1", "explain shop 1"),
    ("explain https://a.example/1 /tmp", "explain /tmp https://a.example/1"),
    // Archives, and one entry.
    ("open shop", "list shop"), ("view shop 1", "show shop 1"),
    ("inspect shop --id 1", "show shop --id 1"),
    // Secrets.
    ("audit shop --rule secrets", "audit shop --rule secret"),
    ("audit shop --rule token", "audit shop --rule secret"),
    ("find-secrets shop", "audit shop --rule secret"),
    // Repair, and text.
    ("doctor shop", "check shop"), ("lint shop", "check shop"),
    ("rg a shop", "grep a shop"),
  ])
  func `a guess works`(_ guess: String, _ same: String) throws {
    let result = try run(guess)
    #expect(try result == run(same))
    #expect([.done, .no, .partly].contains(result.status), "\(result)")
    #expect(result.output + result.messages != "")
  }

  @Test(arguments: [
    ("locate", "discover"), ("find", "discover"),
    ("live shop --for 0s", "watch shop --for 0s"), ("logs -f shop", "watch shop"),
    ("convert a.har --to b.warc.gz", "export a.har -o b.warc.gz"),
    ("convert a.har -o b.warc.gz", "export a.har -o b.warc.gz"),
    ("convert --from har --to warc a.har b.warc", "export a.har -o b.warc"),
    ("convert a.har --format warc b.warc", "export a.har -o b.warc"),
    ("convert shop --to har b", "export shop -o b --format har"),
  ])
  func `a guess is another command`(_ guess: String, _ same: String) {
    #expect(
      LeadingOptions.moved(behindTheVerbOf: Self.words(guess)) == Self.words(same))
  }

  @Test(arguments: [
    // Find caches.
    ("discover -r /tmp", "discover /tmp"), ("discover /tmp --limit 5", "discover /tmp"),
    // What fills a cache.
    ("usage shop --by host --sort size", "usage shop --by host"),
    ("usage shop --sort=-size", "usage shop"), ("usage shop --hosts", "usage shop --by host"),
    ("usage shop -b host", "usage shop --by host"), ("usage shop hosts", "usage shop --by host"),
    ("du -sh shop", "du shop"),
    ("list shop --age 90d --top 5", "list shop --older-than 90d --sort=-size --limit 5"),
    ("list shop --older-than 90", "list shop --older-than 90d"),
    (
      "list shop --before 2025-10-01 --top 5",
      "list shop --stored-before 2025-10-01 --sort=-size --limit 5"
    ),
    ("list shop --images", "list shop --mime image"),
    ("ls -lS shop", "ls --wide --sort=-size shop"),
    ("list shop --sort size desc", "list shop --sort size --reverse"),
    ("list shop --sort size --desc -5", "list shop --sort size --reverse --limit 5"),
    // Why it is stale.
    ("explain shop --url https://a.example/1", "explain shop https://a.example/1"),
    ("explain shop /download", "explain shop --glob '*/download*'"),
    ("list shop --status stale", "list shop --stale"),
    // Remove with a copy.
    ("rm shop --host a.example -n -f", "rm shop --host a.example -n --yes"),
    ("purge shop --hostname a.example -n", "purge shop --host a.example -n"),
    ("purge shop a.example,b.example -n", "purge shop --host a.example,b.example -n"),
    // Limits.
    ("enforce shop 16MiB -n", "enforce shop --max-size 16MiB -n"),
    ("enforce shop --max-size 16 MB -n", "enforce shop --max-size 16MB -n"),
    ("list shop --older-than 3 months", "list shop --older-than 3months"),
    // Secrets.
    ("audit shop --secrets", "audit shop --rule secret"),
    ("audit shop secret", "audit shop --rule secret"),
    ("audit shop --only secret", "audit shop --rule secret"),
    // JSON and SQL.
    ("list shop --ndjson", "list shop --format ndjson"),
    ("list shop -o json", "list shop --format json"),
    ("list shop url,size", "list shop --columns url,size"),
    ("query shop", "query shop 'SELECT url, size FROM entries ORDER BY size DESC LIMIT 10'"),
    // Repair.
    ("check shop --deep", "check shop --full"),
    // Text.
    ("grep a shop --bodies", "grep a shop --in body"),
    ("grep --body a shop", "grep --in body a shop"),
    ("list shop --body a", "list shop --contains a"),
    ("list shop --search a", "list shop --contains a"),
  ])
  func `a guess gets the command line`(_ guess: String, _ line: String) throws {
    let result = try run(guess)
    #expect(result.status == .usage && result.output == "" && result.removed == [])
    let hint = result.messages.split(separator: "hint: ").last.map(String.init) ?? ""
    #expect(
      hint == "did you mean: urlcache-admin \(line)\n" || hint == "write: urlcache-admin \(line)\n",
      "\(result.messages)")
    for words in GuessedCommandLine.suggestions(in: hint.trimmingNewline) {
      #expect(try run(words: words).status != .usage, "\(words)")
    }
  }

  @Test(arguments: [
    ("list shop --group-by host", "urlcache-admin usage shop --by host"),
    ("list shop --secrets", "urlcache-admin audit shop --rule secret"),
    ("list shop --jq .url", "urlcache-admin list shop --json | jq -r '.entries[].url'"),
    ("list shop --follow", "urlcache-admin watch shop"),
    ("list shop -f", "urlcache-admin watch shop"),
    ("show shop 1 --body", "urlcache-admin body shop 1"),
    ("purge shop --orphans", "urlcache-admin check shop --repair=orphans --dry-run"),
    ("fsck -y shop", "urlcache-admin check shop --repair --dry-run"),
    ("enforce shop", "urlcache-admin enforce shop --max-size 100MiB --dry-run"),
    (
      "purge shop --all --backup --yes",
      "urlcache-admin purge shop --all --backup backup.tar.zst --yes"
    ),
    (
      "purge shop --all --backup old --yes",
      "urlcache-admin purge shop --all --backup old.tar.zst --yes"
    ),
    ("export shop --format har", "urlcache-admin export shop --format har -o NEW.har"),
    ("export shop --har new.har", "urlcache-admin export shop -o new.har"),
    ("export shop -o new.csv", "urlcache-admin list shop --format csv > new.csv"),
    ("export shop -o new/Cache.db", "urlcache-admin import shop -c new"),
    ("export shop -o new/", "urlcache-admin export shop -o new/ --format files"),
    ("import a.har --create new", "urlcache-admin import a.har -c new"),
    ("import a.har --into new", "urlcache-admin import a.har -c new"),
    ("convert a.har --to warc", "urlcache-admin export a.har -o NEW.warc"),
    ("diff a.tar b.tar --brief", "urlcache-admin diff a.tar b.tar --stat"),
    ("diff a.tar b.tar -u", "urlcache-admin diff a.tar b.tar --bodies"),
    ("diff -c a.tar -c b.tar", "urlcache-admin diff OLD NEW"),
    ("find /tmp text", "urlcache-admin grep text /tmp"),
    ("tables shop", "urlcache-admin query --help"),
    ("rebuild shop", "urlcache-admin check shop --repair --dry-run"),
    ("config set shop.max-size 16MiB", "urlcache-admin config set caches.shop.max-size 16MiB"),
    ("config set caches.shop /tmp", "urlcache-admin config set caches.shop.path /tmp"),
    ("config set caches.shop.path=/tmp", "urlcache-admin config set caches.shop.path /tmp"),
    ("config add shop /tmp", "urlcache-admin config set caches.shop.path /tmp"),
    ("report shop --by host", "list its options with 'urlcache-admin report --help'"),
    ("tail -n 5 shop", "urlcache-admin watch shop"),
    ("watch shop --interval 1s", "urlcache-admin watch shop"),
  ])
  func `the hint contains the command line`(_ guess: String, _ line: String) throws {
    let result = try run(guess)
    #expect(result.status == .usage && result.output == "" && result.removed == [])
    let lines = result.messages.split(separator: "\n")
    #expect(lines.count == 2 && lines[1].hasPrefix("hint: "), "\(result.messages)")
    #expect(lines.last?.contains(line) == true, "\(result.messages)")
  }

  @Test func `an empty list of a text or a field of requests says where else to look`() throws {
    #expect(
      try run("list shop --contains zzz").messages.hasSuffix(
        "hint: search URLs and header fields, too, with: urlcache-admin grep zzz shop\n"))
    #expect(
      try run("list shop --header Authorization").messages.hasSuffix(
        "hint: select by request header fields with: urlcache-admin list shop --request-header Authorization\n"
      ))
  }

  private func run(_ line: String) throws -> CommandLineResult {
    try run(words: Self.words(line))
  }

  private func run(words: [String]) throws -> CommandLineResult {
    try GuessedCommandLine.run(words)
  }

  private static func words(_ line: String) -> [String] {
    line.split(separator: " ").map(String.init)
  }
}

extension String {
  /// The text without a newline at its end.
  fileprivate var trimmingNewline: String { last == "\n" ? String(dropLast()) : self }
}
