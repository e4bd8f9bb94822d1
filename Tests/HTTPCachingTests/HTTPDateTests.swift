import HTTPCaching
import Testing

@Suite struct HTTPDateTests {
  /// 1994-11-06 08:49:37 UTC, the example of RFC 9110 §5.6.7.
  private let example: Int64 = 784_111_777

  @Test func `the three forms of the RFC are read`() {
    for text in [
      "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
      "Sun Nov  6 08:49:37 1994",
    ] {
      #expect(HTTPDate.secondsSince1970(Array(text.utf8), currentYear: 2026) == example, "\(text)")
    }
  }

  @Test func `a year of two digits is at most 50 years ahead`() {
    func year(_ digits: String) -> Int64? {
      HTTPDate.secondsSince1970(
        Array("Sunday, 06-Nov-\(digits) 08:49:37 GMT".utf8), currentYear: 2026
      ).map { 1970 + $0 / 31_556_952 }
    }
    #expect(year("76") == 2076)
    #expect(year("77") == 1977)
    #expect(year("26") == 2026)
    #expect(year("00") == 2000)
  }

  @Test func `everything else is no date`() {
    for text in [
      "", "0", "-1", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 6 Nov 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 08:49:37", "sun, 06 nov 1994 08:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 24:00:00 GMT", "1994-11-06T08:49:37Z", "Foo, 06 Nov 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, 00 Nov 1994 08:49:37 GMT",
    ] {
      #expect(HTTPDate.secondsSince1970(Array(text.utf8), currentYear: 2026) == nil, "\(text)")
    }
  }
}
