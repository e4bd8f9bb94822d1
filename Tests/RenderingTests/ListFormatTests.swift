import Administration
import Bytes
import Foundation
import Rendering
import ResponseStorage
import Testing

struct ListFormatTests {
  struct Entry: Decodable {
    var id: Int64
    var url: String?
    var url_base64: Data?
  }

  struct List: Decodable {
    var schema: String
    var entries: [Entry]
    var shown: Int64
  }

  let responses = Samples.hostile.enumerated().map {
    Samples.response(Int64($0.offset), url: $0.element)
  }

  @Test(arguments: ListFormat.allCases)
  func `no format contains control or invisible characters`(format: ListFormat)
    throws
  {
    let text = try #require(ByteString(Samples.render(format, responses).bytes).string)
    for scalar in text.unicodeScalars where scalar != "\n" {
      if format == .tsv, scalar == "\t" { continue }
      let category = scalar.properties.generalCategory
      #expect(category != .control && category != .format, "U+\(scalar.value)")
      #expect(category != .lineSeparator && !scalar.properties.isDefaultIgnorableCodePoint)
    }
  }

  @Test(arguments: [(ListFormat.table, 1), (.csv, 1), (.tsv, 1), (.urls, 0), (.ndjson, 0)])
  func `each response is one line`(format: ListFormat, headers: Int) {
    let lines = Samples.render(format, responses).bytes.count { $0 == 0x0A }
    #expect(lines == responses.count + headers)
  }

  @Test func `JSON preserves every byte of a text`() throws {
    let data = Data(Samples.render(.json, responses).bytes)
    let list = try JSONDecoder().decode(List.self, from: data)
    #expect(list.schema == "urlcache-admin.list/1")
    for (entry, url) in zip(list.entries, Samples.hostile) {
      let bytes = entry.url.map { Array($0.utf8) } ?? entry.url_base64.map { Array($0) }
      #expect(bytes == url.bytes)
    }
    #expect(list.shown == Int64(responses.count))
  }

  @Test func `a line of NDJSON is one entry`() {
    let response = Samples.response(url: "https://a.example/")
    #expect(
      Samples.text(Samples.render(.ndjson, [response])) == """
        {"id":1,"url":"https://a.example/","method":"GET","status":200,"mime":null,\
        "size":4300000,"stored":"2025-12-20T00:00:00Z","first_stored":null,\
        "body_location":"file","notes":[]}

        """)
  }

  @Test func `CSV quotes what must be quoted and defuses formulas`() {
    let responses = Samples.hostile[3...4].map { Samples.response(url: $0) }
    #expect(
      Samples.text(Samples.render(.csv, responses, columns: ["id", "url"]))
        == "id,url\n1,\"\"\"\u{301},x\"\n1,'=cmd|' /C calc'!A0\n")
  }

  @Test func `CSV quotes a cell with a space at either end`() {
    let urls: [ByteString] = [" a", "a ", "a b"]
    let responses = urls.map { Samples.response(url: $0) }
    #expect(
      Samples.text(Samples.render(.csv, responses, columns: ["url"]))
        == "url\n\" a\"\n\"a \"\na b\n")
  }

  @Test func `TSV defuses formulas as CSV does`() {
    let urls: [ByteString] = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "a=1", ""]
    let responses = urls.map { Samples.response(url: $0) }
    #expect(
      Samples.text(Samples.render(.tsv, responses, columns: ["url", "status"])) == """
        url\tstatus
        '=1+1\t200
        '+1\t200
        '-1\t200
        '@SUM(A1)\t200
        '‹U+0009›=1\t200
        '‹U+000D›=1\t200
        a=1\t200
        \t200

        """)
  }

  @Test func `a TSV cell never contains a raw separator`() {
    let response = Samples.response(url: "a\tb\\c")
    #expect(
      Samples.text(Samples.render(.tsv, [response], columns: ["url", "status"]))
        == "url\tstatus\na‹U+0009›b‹U+005C›c\t200\n")
  }

  @Test func `a table is aligned and shortens URLs to the terminal`() {
    let responses = [
      Samples.response(7, url: "https://a.example/a/very/long/path/to/something.json"),
      Samples.response(12, url: ByteString("https://a.example/日本\u{202E}")),
    ]
    #expect(
      Samples.text(
        Samples.render(.table, responses, columns: ["id", "age", "size", "mime", "url"], width: 50))
          == """
          ID  AGE     SIZE  MIME  URL
           7  12d  4.1 MiB  -     https://a.example/…ng.json
          12  12d  4.1 MiB  -     https://a.example/…U+202E›

          """)
  }

  @Test func `the remaining lifetime is words in tables and seconds in JSON`() {
    let day = "Sat, 20 Dec 2025 00:00:00 GMT"
    let lines: [[(ByteString, ByteString)]?] = [
      [("Cache-Control", "max-age=3456000"), ("ETag", "W/\"a\""), ("Date", ByteString(day))],
      [("Expires", ByteString(day)), ("Date", ByteString(day)), ("ETag", "\"a\"")],
      [("X-A", "b")], nil,
    ]
    let responses = lines.enumerated().map { index, lines in
      var response = Samples.response(Int64(index + 1), url: "https://a.example/")
      response.responseHeaders = lines.map { lines in
        HeaderFields(lines.map { .init(name: $0.0, value: $0.1) })
      }
      return response
    }
    let columns: [EntryField] = [
      "id", "freshness", "ttl", "lifetime", "lifetime-source", "current-age", "expires-at",
      "validators",
    ]
    #expect(
      Samples.text(Samples.render(.table, responses, columns: columns)) == """
        ID  FRESHNESS    TTL          LIFETIME  LIFETIME SOURCE  CURRENT AGE  EXPIRES AT            VALIDATORS
         1  fresh        fresh 28d         40d  max-age                  12d  2026-01-29T00:00:00Z  weak-etag
         2  stale        stale 12d          0s  expires                  12d  2025-12-20T00:00:00Z  etag
         3  no lifetime  no lifetime         -  none                     12d  -                     none
         4  unknown      unknown             -  -                          -  -                     -

        """)
    #expect(
      Samples.text(Samples.render(.csv, responses, columns: columns)) == """
        id,freshness,ttl,lifetime,lifetime_source,current_age,expires_at,validators
        1,fresh,2419200,3456000,max-age,1036800,2026-01-29T00:00:00Z,weak-etag
        2,stale,-1036800,0,expires,1036800,2025-12-20T00:00:00Z,etag
        3,no-lifetime,,,none,1036800,,none
        4,,,,,,,

        """)
    #expect(
      Samples.text(Samples.render(.ndjson, responses, columns: columns)) == """
        {"id":1,"freshness":"fresh","ttl":2419200,"lifetime":3456000,"lifetime_source":"max-age",\
        "current_age":1036800,"expires_at":"2026-01-29T00:00:00Z","validators":["weak-etag"]}
        {"id":2,"freshness":"stale","ttl":-1036800,"lifetime":0,"lifetime_source":"expires",\
        "current_age":1036800,"expires_at":"2025-12-20T00:00:00Z","validators":["etag"]}
        {"id":3,"freshness":"no-lifetime","ttl":null,"lifetime":null,"lifetime_source":"none",\
        "current_age":1036800,"expires_at":null,"validators":[]}
        {"id":4,"freshness":null,"ttl":null,"lifetime":null,"lifetime_source":null,\
        "current_age":null,"expires_at":null,"validators":null}

        """)
  }

  @Test func `the stored part of a body is a percentage in tables and numbers in JSON`() {
    let cases: [(Int64, ByteCount?, String)] = [
      (200, 409, "1000"), (200, 0, "1000"), (200, 999_999, "1000000"), (200, 1_000, "1000"),
      (200, 2_500, "1000"), (200, nil, "1000"), (200, 5, "x"), (204, 0, "5"),
    ]
    let responses = cases.enumerated().map { index, test in
      var response = Samples.response(Int64(index + 1), url: "https://a.example/")
      response.status = test.0
      response.bodySize = test.1
      response.responseHeaders = HeaderFields([
        .init(name: "content-length", value: ByteString(test.2))
      ])
      return response
    }
    let columns: [EntryField] = ["id", "size", "received", "announced"]
    #expect(
      Samples.text(Samples.render(.table, responses, columns: columns)) == """
        ID     SIZE  RECEIVED  ANNOUNCED
         1    409 B       40%     1000 B
         2      0 B        0%     1000 B
         3  977 KiB       99%    977 KiB
         4   1000 B      100%     1000 B
         5  2.4 KiB      250%     1000 B
         6        -         -          -
         7      5 B         -          -
         8      0 B         -          -

        """)
    #expect(
      Samples.text(Samples.render(.csv, responses, columns: columns)) == """
        id,size,received,announced
        1,409,40,1000
        2,0,0,1000
        3,999999,99,1000000
        4,1000,100,1000
        5,2500,250,1000
        6,,,
        7,5,,
        8,0,,

        """)
    #expect(
      Samples.text(Samples.render(.ndjson, Array(responses.prefix(1)), columns: columns)) == """
        {"id":1,"size":409,"received":40,"announced":1000}

        """)
  }

  @Test func `a table of many rows shows each row once`() {
    let responses = (1...600).map {
      Samples.response($0, url: ByteString("https://a.example/\($0)"))
    }
    let lines = Samples.text(Samples.render(.table, responses)).split(separator: "\n")
    #expect(lines.count == 601)
    #expect(lines[600].hasSuffix("https://a.example/600"))
  }
}
