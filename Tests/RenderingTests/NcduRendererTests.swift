import Bytes
import ResponseStorage
import Testing

@testable import Rendering

@Suite struct NcduRendererTests {
  @Test func `hosts and folders appear once, with all of their contents`() {
    let urls: [ByteString] = [
      "https://b.example/x/1", "https://a.example/x/y/2?q=/z", "https://b.example/x",
      "https://A.example/x/3", "https://a.example", "https://u:p@b.example/x/1?token=t",
    ]
    let list = Samples.render(
      .ncdu, urls.enumerated().map { Samples.response(Int64($0), url: $1) })
    #expect(
      Samples.text(list) == """
        [1,1,{"progname":"urlcache-admin","timestamp":1767225600},
        [{"name":"/tmp/Cache.db"},
        [{"name":"a.example"},
        {"name":"/","asize":4300000,"dsize":4300000},
        [{"name":"x"},
        {"name":"3","asize":4300000,"dsize":4300000},
        [{"name":"y"},
        {"name":"2?q=/z","asize":4300000,"dsize":4300000}]]],
        [{"name":"b.example"},
        {"name":"x","asize":4300000,"dsize":4300000},
        [{"name":"x"},
        {"name":"1","asize":4300000,"dsize":4300000},
        {"name":"1?token=***","asize":4300000,"dsize":4300000}]]]]

        """)
  }

  @Test func `entries beyond the limit are summed up`() throws {
    let now = try #require(Samples.now)
    var renderer = NcduRenderer(
      secrets: SecretPolicy(), now: now, path: "/c", memoryLimit: 100)
    var buffer = TextBuffer()
    for number in 1...5 as ClosedRange<Int64> {
      renderer.render(Samples.response(number, url: "https://a.example/f"), into: &buffer)
    }
    #expect(buffer.bytes.isEmpty)
    let summary = ListSummary(shown: 5, selected: 5, total: 5, bodyBytes: 0)
    renderer.finish(summary: summary, into: &buffer)
    #expect(
      Samples.text(buffer).hasSuffix(
        """
        [{"name":"a.example"},
        {"name":"f","asize":4300000,"dsize":4300000},
        {"name":"f","asize":4300000,"dsize":4300000}],
        {"name":"others: 3 entries","asize":12900000,"dsize":12900000}]]

        """))
  }

  @Test func `a path that is too deep becomes part of the file name`() {
    let url = ByteString("https://a.example/" + String(repeating: "d/", count: 20) + "x")
    let list = Samples.text(Samples.render(.ncdu, [Samples.response(url: url)]))
    #expect(list.contains(#"{"name":"d/d/d/d/d/x","#))
    #expect(Samples.text(Samples.render(.ncdu, [])).hasSuffix("[{\"name\":\"/tmp/Cache.db\"}]]\n"))
  }
}
