import Bytes
import HTTPCaching
import ResponseStorage
import Testing

@testable import Administration

@Suite struct EntryCheckTests {
  @Test(
    arguments: [
      ("http://a/b", "http://a/b", false, true), ("http://a/b", "http://a/c", false, false),
      // The partition, and characters that are invalid in a URL.
      ("http://a/b[https://c]", "http://a/b", false, true),
      ("http://a/b]", "http://a/b", false, false),
      ("http://a/?b=%5Bc%5D", "http://a/?b=[c]", false, true),
      ("http://[::1]", "http://[::1]", false, true),
      ("http://[::1]/[http://c]", "http://[::1]/", false, true),
      // The trailing slash after a query, and no other.
      ("http://a/?b=/c", "http://a/?b=/c/", false, true),
      ("http://a/b/", "http://a/b", false, false),
      // A body follows the URL.
      ("http://a/btext", "http://a/b", true, true), ("http://a/btext[c]", "http://a/b", true, true),
      ("http://a/ctext", "http://a/b", true, false), ("http://a/btext", "http://a/b", false, false),
      ("", "http://a/b", true, false), ("[", "", false, false), ("[]", "", false, true),
    ] as [(StaticString, StaticString, Bool, Bool)])
  func `a key matches the URL that CFNetwork derives it from`(
    _ key: StaticString, _ url: StaticString, _ hasBody: Bool, _ agrees: Bool
  ) {
    let (key, url) = (ByteString(stringLiteral: key), ByteString(stringLiteral: url))
    #expect(CacheKeyCheck.agrees(key, with: url, hasBody: hasBody) == agrees)
  }

  @Test(
    arguments: [
      ("no-store", true), ("NO-STORE", true), ("max-age=1 , no-store", true), ("no-store=x", true),
      (",,no-store,", true), (#"private="a", no-store"#, true), (#"a="\"", no-store"#, true),
      ("no-storey", false), ("x-no-store", false), (#"private="no-store""#, false),
      (#"private="a, no-store, b""#, false), (#"a="\", no-store"#, true), ("a=no-store", false),
      ("", false), ("no", false), (#"""#, false),
    ] as [(StaticString, Bool)])
  func `a directive is recognised by its name outside quotes`(
    _ value: StaticString, _ isThere: Bool
  ) {
    let headers = HeaderFields([
      .init(name: "Age", value: "no-store"),
      .init(name: "cache-CONTROL", value: ByteString(stringLiteral: value)),
    ])
    #expect(EntryCheck.forbidsStoring(headers) == isThere)
  }

  /// Each case is a status, a media type, the stored size, header fields, and the findings.
  @Test(
    arguments: [
      (
        200, "image/png", 9, ["Content-Length: 10"],
        ["partial-body: its body is shorter than its 'Content-Length'"]
      ),
      (
        200, "image/png", 0, ["Content-Length: 10"],
        ["partial-body: its body is shorter than its 'Content-Length'"]
      ),
      (200, "image/png", 10, ["Content-Length: 10"], []), (200, "image/png", 10, [], []),
      (
        200, "image/png", 11, ["content-length: 10"],
        ["other-length: its body is longer than its 'Content-Length'"]
      ),
      (
        200, "application/vnd.api+JSON", 9, ["Content-Length: 10"],
        ["other-length: its body is shorter than its 'Content-Length'"]
      ),
      (200, "image/png", 9, ["Content-Length: 10", "Content-Encoding: gzip"], []),
      (200, "image/png", 99, ["Content-Length: 10", "Content-Encoding: gzip"], []),
      (200, "image/png", 9, ["Content-Length: ten"], []),
      (
        206, "image/png", 9, ["Content-Range: bytes 0-8/10"],
        ["partial-body: its status is 206, so only part of the body is stored"]
      ),
      (206, "image/png", 10, ["Content-Range: bytes 0-9/10"], []),
      (
        200, "text/css", 1, ["Cache-Control: no-cache"],
        ["no-cache-without-validator: the response has 'no-cache' but no validator"]
      ),
      (200, "text/css", 1, ["Cache-Control: no-cache", "ETag: \"a\""], []),
      (200, "text/css", 1, ["Cache-Control: no-cache=\"set-cookie\""], []),
    ] as [(Int64, ByteString, Int64, [String], [String])])
  func `lengths are compared, and useless compression is noted`(
    _ status: Int64, _ type: ByteString, _ size: Int64, _ fields: [String], _ expected: [String]
  ) throws {
    var response = StoredResponse(id: .row(1))
    response.status = status
    response.mimeType = type
    response.bodySize = ByteCount(size)
    response.stored = Timestamp(secondsSince1970: 1_760_000_000)
    response.responseHeaders = HeaderFields(
      fields.map { field in
        let parts = field.split(separator: ": ", maxSplits: 1)
        return .init(name: ByteString(String(parts[0])), value: ByteString(String(parts[1])))
      })
    let exchange = try #require(Exchange(of: response))
    let found = EntryCheck.findings(of: exchange, response).map { "\($0.0.name): \($0.1)" }
    #expect(found == expected)
    response.bodyLocation = .missing
    #expect(
      EntryCheck.findings(of: exchange, response).allSatisfy { $0.0.name.hasPrefix("no-cache") })
  }

  @Test func `every note is a finding of the same name`() {
    for code in StoredResponse.Note.Code.allCases {
      #expect(code.finding.name == code.rawValue)
    }
  }
}
