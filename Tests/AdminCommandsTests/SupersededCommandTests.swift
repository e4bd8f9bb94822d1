import AdminCommands
import Bytes
import ResponseStorage
import TestSupport
import Testing

/// Tests what commands select, print and refuse with `--superseded`.
@Suite struct SupersededCommandTests {
  private let now: Timestamp
  private let store: MemoryStore

  init() throws {
    now = try #require(Timestamp(secondsSince1970: 1_760_000_000))
    let urls = [
      "https://e.com/app-8f3a2c1d.js", "https://e.com/app-9e0b1a2c.js",
      "https://e.com/logo.png?v=1",
      "https://e.com/logo.png?v=2", "https://e.com/photo-1.jpg", "https://e.com/photo-2.jpg",
    ]
    store = MemoryStore(
      urls.enumerated().map { place, url in
        var response = StoredResponse(id: .row(Int64(place + 1)))
        (response.key, response.url) = (ByteString(url), ByteString(url))
        response.status = 200
        response.stored = Timestamp(secondsSince1970: 1_750_000_000 + Double(place) * 60)
        response.bodySize = 10
        response.bodyLocation = .inline
        return response
      })
  }

  private func run(_ words: String...) -> CommandLineResult {
    CommandLineResult.running(words, on: store, now: now)
  }

  @Test func `list selects older versions, and notes the rules`() {
    #expect(
      run("list", "-c", "memory", "--superseded", "--format", "urls")
        == CommandLineResult(
          status: .done,
          output: """
            https://e.com/app-8f3a2c1d.js
            https://e.com/logo.png?v=1

            """,
          messages: """
            2 of 6 entries, 20 B
            note: superseded entries, by how their versions were recognized: 1 by a hash in the file name, 1 by a version parameter

            """))
    #expect(
      run("list", "-c", "memory", "--superseded", "--prefix", "https://e.com/logo", "--count")
        == CommandLineResult(
          status: .done, output: "1\n",
          messages:
            "note: superseded entries, by how their versions were recognized: 1 by a version parameter\n"
        ))
  }

  @Test func `other criteria do not change the newest version`() {
    let result = run("list", "-c", "memory", "--superseded", "--id", "4", "--format", "urls")
    #expect(result == CommandLineResult(status: .done, messages: "0 of 6 entries, 0 B\n"))
  }

  @Test func `purge removes older versions only`() {
    let result = run("purge", "-c", "memory", "--superseded", "--yes")
    #expect(result.removed == [.row(1), .row(3)])
    #expect(
      result.messages.contains(
        "note: superseded entries, by how their versions were recognized: 1 by a hash in the file name, 1 by a version parameter\n"
      ))
  }

  @Test func `commands that read two caches refuse the option`() {
    #expect(
      run("diff", "memory", "memory", "--superseded")
        == CommandLineResult(
          status: .usage,
          messages: """
            error: this command does not accept '--superseded', which depends on all entries of one cache
            hint: list the URLs with 'urlcache-admin list -c PATH --superseded --format urls', then give them with '--url-file'

            """))
  }

  @Test func `usage refuses to write sums as values of groups`() {
    for option in ["--superseded", "--savings"] {
      let result = run("usage", "-c", "memory", option, "--format", "tsv")
      #expect(result.status == .usage)
      #expect(
        result.messages.hasPrefix("error: '\(option)' supports only '--format table' and 'json'.\n")
      )
    }
  }
}
