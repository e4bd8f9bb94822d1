import AdminCommands
import Bytes
import Fetching
import HTTPCaching
import ResponseStorage
import Revalidation
import TestSupport
import Testing

/// Runs complete command lines of `revalidate` with scripted origins.
@Suite struct RevalidateTests {
  /// Answers each request according to the end of its URL.
  private final class Origins: Transport {
    private(set) var requests: [FetchRequest] = []
    private var events: [(number: UInt32, event: FetchEvent)] = []

    func send(_ request: FetchRequest, as number: UInt32) {
      requests.append(request)
      let name = String(decoding: request.url, as: UTF8.self).split(separator: "/").last
      guard let status = name.flatMap({ Int64($0) }) else {
        let failure = FetchFailure(.connection, "the line is \u{1B}[31mdead")
        events.append((number, .failure(failure)))
        return
      }
      let tag = FieldLine(name: Array("ETag".utf8), value: Array((status == 304 ? "1" : "2").utf8))
      let location = FieldLine(name: Array("Location".utf8), value: Array("/else\u{7}where".utf8))
      let head = FetchHead(status: status, url: [], fields: FieldSection([tag, location]))
      events += [(number, .head(head)), (number, .end)]
    }

    func cancel(_ number: UInt32) {}

    func receive(milliseconds: Int64) -> (number: UInt32, event: FetchEvent)? {
      events.isEmpty ? nil : events.removeFirst()
    }
  }

  private func run(
    _ words: [String], of user: String = "", answer: String? = nil, columns: Int? = nil
  ) throws -> (result: CommandLineResult, requests: [FetchRequest]) {
    let now = try #require(Timestamp(secondsSince1970: 1_760_001_007))
    let names = ["304", "200", "404", "301", "500", "dead"]
    let responses = names.enumerated().map { index, name in
      var response = StoredResponse(id: .row(Int64(index + 1)))
      response.url = ByteString("https://\(user)a.example/\(name)")
      response.key = response.url
      response.request.url = response.url
      response.stored = now
      response.status = 200
      response.responseHeaders = HeaderFields([.init(name: "ETag", value: "1")])
      response.request.headers = HeaderFields()
      response.bodySize = 2_048
      return response
    }
    let origins = Origins()
    let result = CommandLineResult.running(
      ["revalidate", "-c", "memory"] + words, on: MemoryStore(responses), now: now,
      answer: answer, columns: columns, transport: origins)
    return (result, origins.requests)
  }

  @Test func `the report has a line for each entry without secrets or hostile text`() throws {
    let (result, requests) = try run(["--all"])
    #expect(
      result.output == """
        OUTCOME     BY      SAVES  ACTION  URL
        unchanged   etag  2.0 KiB  -       https://a.example/304
        changed     etag        -  -       https://a.example/200
        gone        -           -  -       https://a.example/404
        redirected  -           -  -       https://a.example/301 (to /else‹U+0007›where)
        failed      -           -  -       https://a.example/500 (the status is 500)
        failed      -           -  -       https://a.example/dead (the line is ‹U+001B›[31mdead)

        6 requested, 1 unchanged, 1 changed, 1 gone, 1 redirected, 2 failed
        Not downloaded again, because it is still valid: 2.0 KiB

        """)
    #expect(result.messages == "")
    #expect(result.status == .partly)
    #expect(requests.count == 6)
  }

  @Test func `entries with credentials are not requested without them, and never changed`() throws {
    for changes in [[], ["--refresh"], ["--purge-gone", "--purge-changed"]] {
      let (result, requests) = try run(
        ["--id", "3", "--yes"] + changes, of: "user:secret@")
      #expect(
        result.output == """
          OUTCOME            BY  SAVES  ACTION  URL
          needs-credentials  -       -  -       https://***@a.example/404 \
          (unknown: it was stored with credentials, which '--with-credentials' sends)

          0 requested, 1 needs-credentials

          """)
      #expect(
        result.messages == """
          hint: to send the credentials that entries were stored with: urlcache-admin revalidate -c \
          memory --id 3 --yes \(changes.map { "\($0) " }.joined())--with-credentials

          """)
      #expect(result.status == .partly)
      #expect(requests.isEmpty && result.removed == [])
    }
    let (result, requests) = try run(
      ["--id", "3", "--purge-gone", "--yes", "--with-credentials"], of: "user:secret@")
    #expect(result.removed == [.row(3)])
    #expect(requests.map(\.url) == [Array("https://user:secret@a.example/404".utf8)])
  }

  @Test func `URLs are shortened to the width of the terminal`() throws {
    let lines = try [70, 200].map { width in
      try run(["--all"], of: "user:secret@", columns: width).result.output.split(separator: "\n")
    }
    #expect(lines[1][1].contains("  https://***@a.example/304 (unknown: "))
    // At least 20 columns are left for a URL; the reason is never cut.
    #expect(!lines[0][1].contains("https://***@a.example/304"), "\(lines[0][1])")
    #expect(lines[0][1].hasSuffix("'--with-credentials' sends)"))
    #expect(lines[0][1].count == lines[1][1].count - 5)
  }

  @Test func `the status shows whether all entries are valid`() throws {
    for (id, status): (String, AdminCommands.ExitStatus) in [
      ("1", .done), ("2", .no), ("3", .no), ("4", .no), ("5", .partly), ("6", .partly), ("7", .no),
    ] {
      #expect(try run(["--id", id]).result.status == status, "entry \(id)")
    }
    #expect(try run(["--id", "3", "--purge-gone", "--yes"]).result.status == .done)
    #expect(try run(["--id", "3", "--purge-gone", "--dry-run"]).result.status == .no)
  }

  @Test func `nothing is sent if confirmation is impossible`() throws {
    let (result, requests) = try run(["--all", "--purge-gone"])
    #expect(result.status == .usage)
    #expect(requests.isEmpty)
    #expect(
      result.messages == """
        error: cannot ask for confirmation: standard input is not a terminal
        hint: preview with '--dry-run', then change with: urlcache-admin revalidate -c memory --all --purge-gone --yes

        """)
  }

  @Test func `only permitted changes are made`() throws {
    func result(_ option: String, answer: String?) throws -> CommandLineResult {
      let options = ["--id", "1", "--id", "2", "--id", "3", "--purge-gone", "--purge-changed"]
      return try run(options + [option], answer: answer).result
    }
    #expect(try result("--all", answer: "n").removed == [])
    let allowed = try result("--all", answer: "y")
    #expect(allowed.removed == [.row(2), .row(3)])
    #expect(allowed.messages.contains("Would remove 2 entries\n\nChange 2 entries in "))
    #expect(allowed.messages.hasSuffix("? [y/N] "))
    #expect(try result("--dry-run", answer: nil).removed == [])
    #expect(try result("--max-delete=1", answer: "y").status == .no)
    let shown = try result("--dry-run", answer: nil).output
    let options = ["--all", "--purge-gone", "--purge-changed", "--dry-run", "--max-delete"]
    let refused = try run(options + ["1"]).result
    #expect(refused.status == .no)
    #expect(
      refused.output.hasSuffix("Would remove 2 entries\n")
        && shown.hasSuffix("Would remove 2 entries\n"))
    #expect(
      refused.messages
        == "error: 2 of 6 entries would be removed, more than '--max-delete' allows\n")
    #expect(try run(options + ["2"]).result.status == .partly)
    #expect(try result("--max-delete=1", answer: "y").removed == [])
    #expect(try result("--max-delete=2", answer: "y").removed == [.row(2), .row(3)])
  }
}
