import Foundation
import Rendering
import ResponseStorage
import Testing

struct UsageRendererTests {
  let figures: UsageFigures = {
    var footprint = Footprint()
    footprint.databaseBytes = 400 << 20
    footprint.walBytes = 2 << 20
    return UsageFigures(
      store: Samples.store, entries: 4304, bodyBytes: 400 << 20, footprint: footprint,
      capacityBytes: 512 << 20,
      groups: [
        .init(key: "cdn.shop.example", entries: 1290, bytes: 235 << 20),
        .init(key: "\u{1B}", entries: 3, bytes: 17 << 20), .init(key: nil, entries: 1, bytes: 0),
      ], groupTitle: "host")
  }()

  @Test func `people see bars`() {
    var buffer = TextBuffer()
    UsageRenderer().appendText(figures, into: &buffer)
    #expect(
      Samples.text(buffer) == """
        Cache    /tmp/Cache.db   (schema 202, WAL 2.0 MiB)
        Used     402 MiB of 512 MiB   79 %   ███████████████████████▌······│
        Entries  4,304 in 3 hosts, bodies 400 MiB

        HOST                ENTRIES       SIZE                       SHARE
        cdn.shop.example      1,290    235 MiB  ███████████▊          59 %
        ‹U+001B›                  3   17.0 MiB  ▉                      4 %
        -                         1        0 B                         0 %

        """)
  }

  @Test func `bars can be drawn in ASCII`() {
    var buffer = TextBuffer()
    UsageRenderer(asciiOnly: true).appendText(figures, into: &buffer)
    #expect(buffer.bytes.filter { $0 >= 0x80 } == Array("‹›".utf8))
  }

  @Test func `programs see numbers`() throws {
    var buffer = TextBuffer()
    UsageRenderer().appendJSON(figures, into: &buffer)
    let parsed = try JSONSerialization.jsonObject(with: Data(buffer.bytes)) as? [String: Any]
    #expect(parsed?["schema"] as? String == "urlcache-admin.usage/1")
    #expect((parsed?["footprint"] as? [String: Any])?.count == 9)
    #expect((parsed?["groups"] as? [[String: Any]])?[1]["key"] as? String == "\u{1B}")
    var csv = TextBuffer()
    UsageRenderer().appendCSV(figures, into: &csv)
    #expect(
      Samples.text(csv)
        == "key,entries,bytes\ncdn.shop.example,1290,246415360\n‹U+001B›,3,17825792\n,1,0\n")
  }

  @Test func `an error is one line of JSON`() {
    let error = ErrorRenderer.json(
      code: 75, kind: "busy", message: "a\n\"b\"", hint: nil, path: "/\u{202E}")
    #expect(
      Samples.text(error)
        == #"{"schema":"urlcache-admin.error/1","code":75,"kind":"busy","message":"a\n\"b\"","#
        + #""hint":null,"path":"/\u202E"}"# + "\n")
  }
}
