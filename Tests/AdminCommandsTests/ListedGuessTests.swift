@testable import AdminCommands
import TestSupport
import Testing

/// What people who know other programs type first: each guess works, or gets a hint that works.
@Suite struct ListedGuessTests {
  @Test(arguments: [
    // A path or a name needs no `-c`.
    ("usage /tmp", "usage -c /tmp"), ("list /tmp", "list -c /tmp"), ("check /tmp", "check -c /tmp"),
    ("list shop", "list -c shop"),
    // Verbs.
    ("rm shop 1 -n", "purge shop 1 -n"), ("delete shop 1 -n", "purge shop 1 -n"),
    ("remove shop 1 -n", "purge shop 1 -n"), ("clean shop 1 -n", "purge shop 1 -n"),
    ("prune shop 1 -n", "purge shop 1 -n"), ("evict shop 1 -n", "purge shop 1 -n"),
    ("stats shop", "usage shop"), ("info shop", "usage shop"), ("df shop", "usage shop"),
    ("cat shop 1", "body shop 1"), ("get shop 1", "body shop 1"),
    ("verify shop", "check shop"), ("fsck shop", "check shop"),
    ("repair shop -n", "check shop --repair -n"),
    ("convert --help", "export --help"), ("policy test shop", "rules test shop"),
    ("version", "--version"), ("-V", "--version"), ("-v", "--version"),
    // Options.
    ("list shop -f json", "list shop --format json"),
    ("list shop --json", "list shop --format json"),
    ("list shop --format text", "list shop --format table"),
    ("list shop -n 2", "list shop --limit 2"), ("list shop --reverse", "list shop --sort=-id"),
    ("list shop --contains a", "list shop 1"),
    ("list shop --header x-cache", "list shop --header x-cache=*"),
    ("list shop --older-than 1mo", "list shop --older-than 2628000s"),
    ("list shop --newer-than 1y", "list shop --newer-than 365d"),
    ("list shop --larger-than 1mib", "list shop --larger-than 1048576"),
    ("list shop --status 400-499", "list shop --status 4xx"),
    ("list shop --since 30d", "list shop --stored-after 30d"),
    ("list shop --mime image", "list shop --mime image/*"),
    ("list shop -q", "list shop --quiet"),
    ("list shop --host a.example,b.example", "list shop --host a.example --host b.example"),
    ("list shop --type image,text/html", "list shop --type image --type text/html"),
  ])
  func `a guess is another spelling`(_ guess: String, _ same: String) throws {
    let result = try run(guess)
    #expect(try result == run(same))
    #expect([.done, .no].contains(result.status), "\(result)")
    #expect(result.output + result.messages != "")
  }

  @Test(arguments: [
    "completion zsh", "usage --by host --all-under /none", "list shop --columns all",
  ])
  func `a guess works`(_ guess: String) throws {
    let result = try run(guess)
    #expect(result.status == .done && result.output != "", "\(result)")
  }

  @Test(arguments: [
    ("list shop --older-than 90", "Write '90d' for days"),
    ("purge shop -n 5", "for the entry with the id 5 write '--id 5'"),
    ("list 3", "write '-c 3' for the cache, or '-- 3' for the entry"),
    ("export shop -o new.xyz", "end it with .tar.zst, .tar.gz"),
    ("list shop --host a.example,", "write one comma between two values"),
    ("list shop --type ,image", "write one comma between two values"),
  ])
  func `a guess is refused with what to write`(_ guess: String, _ hint: String) throws {
    let result = try run(guess)
    #expect(result.status == .usage && result.output == "" && result.removed == [])
    #expect(result.messages.contains(hint), "\(result.messages)")
  }

  @Test(arguments: [
    ("--host nothing.invalid", "host 'nothing.invalid'", "list the hosts with: ", "host"),
    ("--mime image/pgn", "media type 'image/pgn'", "did you mean 'image/png'?", "mime"),
    ("--type video", "media type 'video/*'", "list the media types with: ", "mime"),
    ("--status 599", "status 599", "list the statuses with: ", "status"),
    ("--status 5xx", "status 500-599", "list the statuses with: ", "status"),
  ])
  func `a value that no entry has is noted`(
    _ option: String, _ value: String, _ hint: String, _ key: String
  ) throws {
    let command =
      hint.hasSuffix(": ") ? "urlcache-admin usage -c memory --by \(key)" : ""
    for verb in ["list shop", "purge -n shop"] {
      let result = try run("\(verb) \(option)")
      #expect(
        result.messages.hasSuffix("note: no entry has the \(value)\nhint: \(hint)\(command)\n")
          || result.messages.contains(
            "note: no entry has the \(value)\nhint: \(hint)\(command)\n"),
        "\(result)")
    }
    #expect(try run("list shop --count \(option) -q").messages == "")
  }

  private func run(_ line: String) throws -> CommandLineResult {
    try GuessedCommandLine.run(line.split(separator: " ").map(String.init))
  }
}
