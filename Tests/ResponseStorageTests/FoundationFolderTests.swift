import Testing

@testable import ResponseStorage

@Suite struct FoundationFolderTests {
  @Test(
    arguments: [
      ("7.aAA=.storedcachedurlresponse", 7), ("7.aAA=.StoredCachedURLResponse", 7),
      ("-7.x.storedcachedurlresponse", -7), ("+7.x.storedcachedurlresponse", 7),
      ("007.x.storedcachedurlresponse", 7), ("7..storedcachedurlresponse", 7),
      ("9223372036854775807.x.storedcachedurlresponse", .max),
      ("9223372036854775808.x.storedcachedurlresponse", nil),
      ("7.storedcachedurlresponse", nil), ("7.x.y.storedcachedurlresponse", nil),
      (".x.storedcachedurlresponse", nil), (" 7.x.storedcachedurlresponse", nil),
      ("7.x.storedcachedurlresponse ", nil), ("7.x.storedcachedurlrespons", nil),
      ("7.xNstoredcachedurlresponse", nil), (".storedcachedurlresponse", nil), ("", nil),
    ] as [(String, Int64?)])
  func `an entry is told by its whole name`(_ name: String, _ seconds: Int64?) {
    #expect(FoundationFolder.secondsSince2001(inName: Array(name.utf8)) == seconds)
  }

  @Test func `what is between the points may be any bytes`() {
    let name = Array("7.".utf8) + [0xFF, 0] + Array(".storedcachedurlresponse".utf8)
    #expect(FoundationFolder.secondsSince2001(inName: name) == 7)
  }
}
