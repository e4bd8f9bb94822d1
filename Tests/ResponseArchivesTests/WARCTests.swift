import Bytes
import ResponseStorage
import TestSupport
import Testing

@testable import ResponseArchives

@Suite struct WARCTests {
  @Test(arguments: [
    ("2024", 1_704_067_200), ("2024-02", 1_706_745_600), ("2024-02-29", 1_709_164_800),
    ("2024-02-29T01:02:03Z", 1_709_168_523), ("2024-02-29T01:02:03.25Z", 1_709_168_523.25),
    ("2024-02-29T01:02:03.000000001Z", 1_709_168_523.000000001),
    ("2016-12-31T23:59:60Z", 1_483_228_799), ("2024-02-29T01:02Z", 1_709_168_520),
  ])
  func `dates in the W3C profile are parsed`(text: String, seconds: Double) {
    #expect(Timestamp(warcDate: ByteString(text))?.secondsSince1970 == seconds)
  }

  @Test(arguments: [
    "", "24", "2024-", "2024-2", "2023-02-29", "2024-02-29T01:02", "2024-02-29T01:02:03",
    "2024-02-29T01Z", "2024-02-29T24:02Z", "2024-02-29 01:02Z", "2024-02-29T01:02:Z",
    "2024-02-29T01:02:03+00:00", "2024-02-29T01:02:03.Z", "2024-02-29T01:02:03.0000000001Z",
    "2024-02-29T25:02:03Z", "2024-02-29T01:02:61Z", "2024-02-29 01:02:03Z", "2024-02-29T01:02:03ZZ",
    "-024-02-29T01:02:03Z", "0000-01-01",
  ])
  func `invalid dates are refused`(text: String) {
    #expect(Timestamp(warcDate: ByteString(text)) == nil)
  }

  @Test func `a date is read back to the microsecond`() throws {
    for seconds in [
      0, -62_135_596_800, 1_709_168_523, 1_709_168_523.999_999_9, 1_690_000_000.123_456,
    ] {
      let time = try #require(Timestamp(secondsSince1970: seconds))
      let again = try #require(Timestamp(warcDate: ByteString(time.warcDate)))
      #expect(abs(again.secondsSince1970 - seconds) < 1.1e-6)
    }
    let whole = try #require(Timestamp(secondsSince1970: 1_709_168_523))
    #expect(whole.warcDate == Array("2024-02-29T01:02:03Z".utf8))
    #expect(whole.warcDigits == Array("20240229010203".utf8))
    let part = try #require(Timestamp(secondsSince1970: 1_709_168_523.5))
    #expect(part.warcDate == Array("2024-02-29T01:02:03.500000Z".utf8))
  }

  /// The digests of `hello`, as warcio writes and reads them.
  @Test(arguments: [
    "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N", "SHA-1:vl2mmho4yxukfwv63yhtwsbm3gxksq2n",
    "sha1:aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d", "sha1: qvTGHdzF6KLavt4PO0gs2a6pQ00=",
    "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
    "sha256:FTZE3OS7WCRQ4JXIHMVMLOPCTYNRMHS4D6TUEXTTAQZWFE4LTASA====",
    "sha256:FTZE3OS7WCRQ4JXIHMVMLOPCTYNRMHS4D6TUEXTTAQZWFE4LTASA",
  ])
  func `a digest is read in each notation`(label: String) throws {
    let digest = try #require(try WARCDigest(ByteString(label)))
    var (right, wrong) = (WARCDigest.Making(of: digest), WARCDigest.Making(of: digest))
    right.update(Array("hello".utf8)[...])
    wrong.update(Array("hellp".utf8)[...])
    #expect(right.isRight)
    #expect(!wrong.isRight)
  }

  @Test func `digests of unknown algorithms are ignored`() throws {
    #expect(try WARCDigest("md5:5d41402abc4b2a76b9719d911017c592") == nil)
    #expect(throws: WARCError("a digest of a record does not match its algorithm")) {
      try WARCDigest("sha1:5d41402abc4b2a76b9719d911017c592")
    }
  }

  @Test func `only the first few concurrent records of a header are kept`() throws {
    let lines = (0..<3_000).map { Array("WARC-Concurrent-To: <urn:x:\($0)>".utf8) }
    let header = try WARCHeader(lines: lines)
    #expect(header.concurrentIDs == (0..<8).map { ByteString("<urn:x:\($0)>") })
  }

  @Test func `fields of the transfer are renamed, and get their names back`() {
    let fields: [(ByteString, ByteString)] = [
      ("Connection", "close"), ("CONTENT-ENCODING", "gzip"), ("transfer-encoding", "chunked"),
      ("Content-Length", "5"), ("X-Urlcache", "1"),
    ]
    let headers = HeaderFields(fields.map { .init(name: $0.0, value: $0.1) })
    var renamed = WARCLabel.renamed(headers, bodySize: 7)
    #expect(
      renamed.fields.map(\.name) == [
        "X-Urlcache-Orig-Connection", "X-Urlcache-Orig-CONTENT-ENCODING",
        "X-Urlcache-Orig-transfer-encoding", "X-Urlcache-Orig-Content-Length", "X-Urlcache",
        "Content-Length",
      ])
    #expect(WARCLabel.original(renamed) == headers)
    renamed.fields[0].name = "x-urlcache-orig-Connection"
    #expect(WARCLabel.original(renamed) == headers)
  }

  @Test func `a field is one line, whatever its value contains`() {
    let field = HeaderFields.Field(name: "A", value: ByteString([0x20, 0x61] + Array(0...0xFF)))
    let kept = (0...0xFF as ClosedRange<UInt8>).map { byte -> UInt8 in
      byte == 0x09 || (0x20..<0x7F).contains(byte) || byte > 0x7F ? byte : 0x20
    }
    #expect(field.line == Array("A: a".utf8) + kept + [0x0D, 0x0A])
  }

  /// Crawlers repeat fields of newer proposals, such as `WARC-Protocol: h2` and `WARC-Protocol: tls/1.3`.
  @Test func `fields may repeat, unless one that is read has two values`() throws {
    let single = [
      "WARC-Type", "WARC-Record-ID", "WARC-Date", "Content-Length", "Content-Type",
      "WARC-Target-URI", "WARC-Block-Digest", "WARC-Payload-Digest", "WARC-Refers-To",
      "WARC-Refers-To-Target-URI", "WARC-Refers-To-Date", "WARC-Truncated", "WARC-Segment-Number",
    ]
    let other = ["WARC-Protocol", "WARC-Concurrent-To", "WARC-Cipher-Suite", "X"]
    for name in single + other {
      let (first, second) = (Array("\(name): a".utf8), Array("\(name.uppercased()): b".utf8))
      #expect(try WARCHeader(lines: [first, first]).fields.count == 2)
      if single.contains(name) {
        #expect(throws: WARCError("a record's header repeats a field with another value")) {
          try WARCHeader(lines: [first, second])
        }
        // A value may go on in the next line.
        #expect(throws: WARCError.self) {
          try WARCHeader(lines: [first, first, Array(" b".utf8)])
        }
      } else {
        #expect(try WARCHeader(lines: [first, second]).fields.count == 2)
      }
    }
  }

  @Test func `an index is found by its mark, as in a dictionary`() {
    var generator = SplitMix64(seed: 7)
    var table = WARCMarkTable()
    var dictionary: [WARCMark: Int] = [:]
    let marks = (0..<400).map { WARCMark(ByteString("\($0)")) }
    for number in 0..<1_000 {
      let mark = marks[Int.random(in: 0..<300, using: &generator)]
      table.add(number, for: mark)
      dictionary[mark] = number
    }
    table.sort()
    for mark in marks { #expect(table.number(ofFirst: [mark]) == dictionary[mark]) }
    for mark in marks[..<300] {
      let wanted = dictionary[marks[399]] ?? dictionary[mark]
      #expect(table.number(ofFirst: [marks[399], mark]) == wanted)
    }
    #expect(WARCMarkTable().number(ofFirst: marks) == nil)
  }

  /// The expected values are from the Python package surt.
  @Test(arguments: [
    ("http://www.Example.com/", "com,example)/"),
    ("https://www2.example.com:443/A/B/?b=2&a=1#x", "com,example)/a/b?a=1&b=2"),
    ("http://example.com:80", "com,example)/"),
    ("http://example.com:8080/a/", "com,example:8080)/a"),
    ("https://example.com/?", "com,example)/"), ("http://user:pw@example.com/x", "com,example)/x"),
    ("http://192.168.0.1/a", "1,0,168,192)/a"), ("http://example.com?q", "com,example)/?q"),
    ("http://example.com/a%20b?x=%41&x=a", "com,example)/a%20b?x=a&x=a"),
    ("http://example.com//a//b/../c", "com,example)/a/c"), ("http://www.com/", "com)/"),
    ("https://example.com/?q=caf%C3%A9%20%26%20bar", "com,example)/?%20bar&q=caf%c3%a9%20"),
    ("https://example.com/?f[0]=a%7cb&c=%255B", "com,example)/?c=[&f[0]=a|b"),
  ])
  func `URLs have the sort form that players expect`(url: String, form: String) {
    #expect(String(decoding: SURT.make(of: Array(url.utf8)), as: UTF8.self) == form)
  }

  @Test func `equal names give equal version 5 UUIDs`() {
    let id = NameUUID.make(of: Array("x".utf8))
    #expect(id == NameUUID.make(of: Array("x".utf8)))
    #expect(id != NameUUID.make(of: Array("y".utf8)))
    #expect(id.utf8.count == 36 && Array(id.utf8)[14] == UInt8(ascii: "5"))
  }
}
