import AdminCommands
import Bytes
import ResponseStorage
import TestSupport
import Testing

/// Runs complete command lines that remove entries.
@Suite struct RemovalCommandTests {
  private let now: Timestamp

  init() throws {
    // 2026-01-01T00:00:00Z
    now = try #require(Timestamp(secondsSince1970: 1_767_225_600))
  }

  @Test(
    arguments: [
      ("y", [1, 2, 3, 4]), ("YES", [1, 2, 3, 4]), ("n", []), ("", []), ("yesterday", []),
    ] as [(String, [Int64])])
  func `only a yes confirms`(answer: String, removed: [Int64]) {
    let result = run(["purge", "--all"], answer: answer)
    #expect(result.status == .done)
    #expect(result.removed == removed.map { .row($0) })
    #expect(result.messages.contains("Would remove 4 of 4 entries"))
    #expect(result.messages.contains("\nRemove 4 entries ("))
    #expect(result.messages.contains(") from memory? [y/N] "))
    #expect(result.messages.hasSuffix("nothing was removed\n") == removed.isEmpty)
  }

  @Test func `without a terminal '--yes' is required`() {
    let result = run(["purge", "--all"])
    #expect(
      result
        == CommandLineResult(
          status: .usage,
          messages: """
            error: cannot ask for confirmation: standard input is not a terminal
            hint: preview with '--dry-run', then remove with: urlcache-admin purge --all -c memory --yes

            """))
  }

  @Test(arguments: [
    (["--max-entries", "4"], []), (["--max-entries", "3"], [4]),
    (["--max-entries", "0"], [1, 2, 3, 4]), (["--max-entries", "3", "--low", "50%"], [2, 3, 4]),
    (["--max-age", "25d"], [3, 4]), (["--max-age", "25d", "--only-if-over"], []),
    (["--max-age", "25d", "--only-if-over", "--max-entries", "3"], [3, 4]),
    (["--max-entry-size", "250"], [3, 4]), (["--max-entry-size", "0"], [1, 2, 3, 4]),
    (["--max-entries", "3", "--order", "largest"], [4]),
    (
      ["--max-entries", "3", "--order", "largest", "--larger-than", "50", "--older-than", "15d"],
      [4]
    ),
    // Three entries are not selected, so nothing is removed unless best effort is requested.
    (["--max-entries", "1", "--newer-than", "15d"], []),
    (["--max-entries", "1", "--newer-than", "15d", "--best-effort"], [1]),
    // The file system has 1,000 of 10,000 bytes available.
    (["--min-free", "1000"], []), (["--min-free", "1050"], [4]), (["--min-free", "14%"], [4]),
    (["--min-free", "15%"], [3, 4]), (["--min-free", "20%"], [1, 2, 3, 4]),
    // More than all entries take.
    (["--min-free", "100%"], []),
  ])
  func `entries over a limit are removed`(options: [String], removed: [Int64]) {
    let result = run(["enforce", "--dry-run", "--format", "json"] + options)
    for id in 1...4 as ClosedRange<Int64> {
      #expect(result.output.contains("{\"id\":\(id),") == removed.contains(id), "\(id)")
    }
    #expect(result.removed.isEmpty)
  }

  @Test(arguments: [
    (
      [],
      "no limit given and no rule configured\nhint: see what a limit would remove with: urlcache-admin enforce -c memory --max-size 100MiB --dry-run"
    ),
    (["--max-entries=-1"], "'--max-entries' cannot be less than zero."),
    (["--max-entries", "1", "--low", "101%"], "'--low' cannot be more than 100%."),
    (
      ["--max-entries", "1", "--order", "newest"],
      "'--order': unknown order 'newest'\nhint: use one of: oldest, largest, stale-first, least-recently-used\n"
    ),
    (["--max-size=-5"], "'-5'"), (["--max-age", "soon"], "'soon'"),
  ])
  func `an invalid limit is refused`(options: [String], message: String) {
    let result = run(["enforce", "--yes"] + options)
    #expect(result.status == .usage)
    #expect(result.messages.contains(message), "\(result.messages)")
    #expect(result.removed.isEmpty)
  }

  @Test(arguments: [["purge", "--all"], ["enforce", "--max-entries", "0"]])
  func `a dry run over the permitted share fails like the real run`(words: [String]) {
    let shown = run(words + ["--dry-run"])
    #expect(shown.status == .done)
    let message = "error: 4 of 4 entries would be removed, more than '--max-delete' allows\n"
    let limited = run(words + ["--dry-run", "--max-delete", "3"])
    #expect(limited.output == shown.output)
    #expect(limited.messages == shown.messages + message)
    #expect(limited.status == .no)
    let real = run(words + ["--yes", "--max-delete", "3"])
    #expect(real.messages.hasSuffix(message + "hint: list them with '--dry-run'\n"))
    #expect(real.status == .no)
    #expect(run(words + ["--dry-run", "--max-delete", "4"]).status == .done)
  }

  private func run(_ words: [String], answer: String? = nil) -> CommandLineResult {
    CommandLineResult.running(
      words + ["-c", "memory"], on: store, now: now, answer: answer, room: (1_000, 10_000))
  }

  /// Four entries, 10, 20, 30 and 40 days old, of 100 to 400 bytes in body files.
  private var store: MemoryStore {
    var store = MemoryStore(
      (1...4 as ClosedRange<Int64>).map { number in
        var response = StoredResponse(id: .row(number))
        response.url = ByteString("https://a.example/\(number)")
        response.bodySize = ByteCount(number * 100)
        response.bodyLocation = .file
        response.stored = Timestamp(
          secondsSince1970: now.secondsSince1970 - Double(number) * 864_000)
        return response
      })
    store.size.bodyFilesBytes = 1_000
    return store
  }
}
