import ResponseStorage
import Testing

@testable import Administration

@Suite struct EntryCheckTests {
  @Test(
    arguments: [
      ("http://a/b", "http://a/b", false, true), ("http://a/b", "http://a/c", false, false),
      // The partition, and what may not stand in a URL.
      ("http://a/b[https://c]", "http://a/b", false, true),
      ("http://a/b]", "http://a/b", false, false),
      ("http://a/?b=%5Bc%5D", "http://a/?b=[c]", false, true),
      ("http://[::1]", "http://[::1]", false, true),
      ("http://[::1]/[http://c]", "http://[::1]/", false, true),
      // The last slash after a query, and not another.
      ("http://a/?b=/c", "http://a/?b=/c/", false, true),
      ("http://a/b/", "http://a/b", false, false),
      // A body follows the URL.
      ("http://a/btext", "http://a/b", true, true), ("http://a/btext[c]", "http://a/b", true, true),
      ("http://a/ctext", "http://a/b", true, false), ("http://a/btext", "http://a/b", false, false),
      ("", "http://a/b", true, false), ("[", "", false, false), ("[]", "", false, true),
    ] as [(StaticString, StaticString, Bool, Bool)])
  func `a key agrees with the URL that CFNetwork makes it of`(
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
  func `a directive is told by its name outside of quotes`(_ value: StaticString, _ isThere: Bool) {
    let headers = HeaderFields([
      .init(name: "Age", value: "no-store"),
      .init(name: "cache-CONTROL", value: ByteString(stringLiteral: value)),
    ])
    #expect(EntryCheck.forbidsStoring(headers) == isThere)
  }

  @Test func `every note is a finding of the same name`() {
    for code in StoredResponse.Note.Code.allCases {
      #expect(code.finding.name == code.rawValue)
    }
  }
}
