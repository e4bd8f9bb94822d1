import HTTPCaching
import Testing

@Suite struct HTTPDateTests {
  /// 1994-11-06 08:49:37 UTC, the example of RFC 9110 §5.6.7.
  private let example: Int64 = 784_111_777

  /// 2026-11-21 00:00:00 UTC.
  private let now: Int64 = 1_795_219_200

  @Test func `the three formats of the RFC are parsed`() {
    for text in [
      "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
      "Sun Nov  6 08:49:37 1994",
    ] {
      #expect(HTTPDate.secondsSince1970(Array(text.utf8), now: now) == example, "\(text)")
    }
  }

  @Test func `dates are case-insensitive`() {
    for text in [
      "sun, 06 nov 1994 08:49:37 gmt", "SUNDAY, 06-NOV-94 08:49:37 GMT", "sUN nOV  6 08:49:37 1994",
    ] {
      #expect(HTTPDate.secondsSince1970(Array(text.utf8), now: now) == example, "\(text)")
    }
  }

  @Test func `a wrong day of the week is noted, but the date is valid`() {
    for (text, isWrong) in [
      ("Sun, 06 Nov 1994 08:49:37 GMT", false), ("Mon, 06 Nov 1994 08:49:37 GMT", true),
      ("Sunday, 06-Nov-94 08:49:37 GMT", false), ("Saturday, 06-Nov-94 08:49:37 GMT", true),
      ("Thu Jan  1 00:00:00 1970", false), ("Wed Dec 31 23:59:59 1969", false),
      ("Mon Jan  1 00:00:00 0001", false), ("Tue Jan  1 00:00:00 0001", true),
    ] {
      let bytes = Array(text.utf8)
      #expect(HTTPDate.namesWrongDay(bytes, now: now) == isWrong, "\(text)")
      #expect(HTTPDate.secondsSince1970(bytes, now: now) != nil, "\(text)")
    }
    #expect(HTTPDate.namesWrongDay(Array("Sun".utf8), now: now) == nil)
  }

  @Test func `a year of two digits is at most 50 years ahead`() {
    func year(_ digits: String) -> Int64? {
      HTTPDate.secondsSince1970(
        Array("Sunday, 06-Nov-\(digits) 08:49:37 GMT".utf8), now: now
      ).map { 1970 + $0 / 31_556_952 }
    }
    #expect(year("76") == 2076)
    #expect(year("77") == 1977)
    #expect(year("26") == 2026)
    #expect(year("00") == 2000)
  }

  @Test func `the 50-year rule compares exact times, not years`() {
    func seconds(_ text: String, now: Int64) -> Int64? {
      HTTPDate.secondsSince1970(Array(text.utf8), now: now)
    }
    let date = "Saturday, 21-Nov-76 00:00:00 GMT"
    let ahead = seconds(date, now: now)
    #expect(ahead.map { $0 > now } == true)
    // A day earlier the same date is more than 50 years ahead.
    #expect(seconds(date, now: now - 86_400).map { $0 < now } == true)
    #expect(seconds("Tuesday, 29-Feb-00 00:00:00 GMT", now: now) == 951_782_400)
    // 2100 has no 29 February, so the date must be in 2000.
    #expect(seconds("Tuesday, 29-Feb-00 00:00:00 GMT", now: 4_133_980_800) == 951_782_400)
    for hostile in [Int64.min, .max, -62_135_596_800, 253_402_300_799] {
      _ = seconds(date, now: hostile)
    }
  }

  @Test func `a leap second is the second after it`() {
    let text = Array("Sat, 31 Dec 2016 23:59:60 GMT".utf8)
    #expect(HTTPDate.secondsSince1970(text, now: now) == 1_483_228_800)
    let beyond = Array("Sat, 31 Dec 2016 23:59:61 GMT".utf8)
    #expect(HTTPDate.secondsSince1970(beyond, now: now) == nil)
  }

  @Test func `every day from 1900 to 2105 is parsed in all formats`() {
    let names = [
      "Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday",
    ]
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    // The days are counted one by one, from 1 January 1900, a Monday.
    var count: Int64 = -25_567
    for year in 1900...2105 {
      for (month, name) in months.enumerated() {
        let leap = year % 400 == 0 || year % 4 == 0 && year % 100 != 0 ? 1 : 0
        let length = month == 1 ? 28 + leap : [3, 5, 8, 10].contains(month) ? 30 : 31
        for day in 1...length {
          let expected = count * 86_400 + 3_723
          let weekday = names[Int((count % 7 + 7) % 7)]
          let two = day < 10 ? "0\(day)" : "\(day)"
          let padded = day < 10 ? " \(day)" : "\(day)"
          let short = year % 100 < 10 ? "0\(year % 100)" : "\(year % 100)"
          let forms = [
            "\(weekday.prefix(3)), \(two) \(name) \(year) 01:02:03 GMT",
            "\(weekday), \(two)-\(name)-\(short) 01:02:03 GMT",
            "\(weekday.prefix(3)) \(name) \(padded) 01:02:03 \(year)",
          ]
          for form in forms {
            let read = HTTPDate.secondsSince1970(Array(form.utf8), now: expected)
            if read != expected { Issue.record("\(form): \(String(describing: read))") }
          }
          count += 1
        }
      }
    }
  }

  @Test func `everything else is not a date`() {
    for text in [
      "", "0", "-1", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 6 Nov 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 08:49:37", "Sun, 31 Feb 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 24:00:00 GMT", "1994-11-06T08:49:37Z", "Foo, 06 Nov 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, 00 Nov 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 08:49:37 GMT\u{301}", "Sun, 06 Nov 1994 08:49:37 GMT\r\n",
      "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", ",", "Sun,",
      "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49:37 EST",
      "Sun, 06 Nov 1994 8:49:37 GMT", "Sun,  06 Nov 1994 08:49:37 GMT",
      "Sun 06 Nov 1994 08:49:37 GMT ", "Sun Nov 06 08:49:37 1994 GMT", "Sun Nov 6 08:49:37 1994",
      "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT",
      "Sun Nov  0 08:49:37 1994", "Sun Nov -6 08:49:37 1994", "784111777",
      "Sun, 06 Nov 0000 08:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
      String(repeating: ",", count: 1_000_000),
    ] {
      #expect(HTTPDate.secondsSince1970(Array(text.utf8), now: now) == nil, "\(text)")
    }
  }
}
