import Bytes
import Testing

@Suite struct ISO8601ProfileTests {
  /// 2026-01-31 12:34:56 UTC, by `date -u -d … +%s`.
  private static let seconds = 1_769_862_896.0

  @Test(arguments: [
    ("2026-01-31T12:34:56Z", 0), ("2026-01-31 12:34:56Z", 0), ("2026-01-31T12:34:56", 0),
    ("2026-01-31T12:34:56.5Z", 0.5), ("2026-01-31T12:34:56,25Z", 0.25),
    ("2026-01-31T12:34:56.1234567890123Z", 0.123456789), ("2026-01-31T13:34:56+01:00", 0),
    ("2026-01-31T07:04:56-0530", 0), ("2026-01-31T12:34:56.000-00", 0),
    ("2026-02-01T02:34:56.5+14:00", 0.5), ("2026-01-31T12:34:60Z", 3),
  ])
  func `dates written by programs are parsed`(text: String, fraction: Double) {
    #expect(
      Timestamp(iso8601: Array(text.utf8), .programs)
        == Timestamp(secondsSince1970: Self.seconds + fraction))
  }

  @Test(arguments: [
    "", "2026", "2026-01-31", "2026-01-31T12:34Z", "2026-02-30T00:00:00Z", "2026-01-31T24:00:00Z",
    "2026-01-31T12:34:61Z", "2026-01-31T12:34:56.Z", "2026-01-31T12:34:56ZZ",
    "2026-01-31T12:34:56+24:00", "2026-01-31T12:34:56+1", "+026-01-31T12:34:56Z",
    "0000-01-31T12:34:56Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-23:59",
    "٢٠٢٦-01-31T12:34:56Z",
  ])
  func `anything else is not a date`(text: String) {
    #expect(Timestamp(iso8601: Array(text.utf8), .programs) == nil)
  }

  @Test(arguments: [
    "2026-01-31T12:34:56Z", "2026-01-31t12:34:56z", "2026-01-31 12:34:56+00:00",
    "2026-01-31T13:34:56+01:00", "2026-01-31T12:34:56.000000000000000000Z",
  ])
  func `dates written by people are parsed`(text: String) {
    let moment = Timestamp(iso8601: Array(text.utf8), .rfc3339)
    #expect(moment?.secondsSince1970 == Self.seconds)
  }

  @Test(arguments: [
    "2026-01-31T12:34:56", "2026-01-31T12:34:56,5Z", "2026-01-31T12:34:56+0100",
    "2026-01-31T12:34:56+01", "2026-01-31T12:34:60Z", "2026-01-31T12:34:56.0000000000000000000Z",
  ])
  func `people write a zone with a colon, and no leap second`(text: String) {
    #expect(Timestamp(iso8601: Array(text.utf8), .rfc3339) == nil)
    #expect(Timestamp(iso8601: Array(text.utf8), .programs) != nil)
  }

  @Test(arguments: [
    "2026-01-31T12:34:56z", "2026-01-31t12:34:56Z", "2026-01-31 12:34:56Z", "2026-01-31T12:34:56",
    "2026-01-31T12:34:56+00:00", "2026-01-31T12:34:56.0000000000Z",
  ])
  func `the profile of W3C has one form`(text: String) {
    #expect(Timestamp(iso8601: Array(text.utf8), .w3c) == nil)
  }

  @Test func `written dates are read back`() throws {
    var generator = Generator(state: 5)
    for _ in 0..<5_000 {
      let seconds = Int64.random(in: CivilCalendar.seconds, using: &generator)
      let moment = try #require(Timestamp(secondsSince1970: Double(seconds) + 0.5))
      var text: [UInt8] = []
      text.append(rfc3339: moment)
      for profile in [ISO8601Profile.rfc3339, .programs, .w3c] {
        #expect(Timestamp(iso8601: text, profile)?.wholeSeconds == seconds)
      }
      var database: [UInt8] = []
      database.append(CivilTime(moment), separator: UInt8(ascii: " "))
      let space = UInt8(ascii: " ")
      #expect(CivilTime(database.span, separator: space) == CivilTime(moment))
      #expect(CivilTime(database.span, separator: UInt8(ascii: "T")) == nil)
      #expect(CivilTime(database.span) == nil)
      let day = CivilTime(moment)
      #expect(
        CivilTime(database.span.extracting(first: 10))
          == CivilTime(year: day.year, month: day.month, day: day.day))
    }
  }

  @Test func `changing one byte never traps`() {
    let text = Array("2026-01-31T12:34:56.5+01:00".utf8)
    for place in text.indices {
      for byte in UInt8.min ... .max {
        var changed = text
        changed[place] = byte
        for profile in [ISO8601Profile.rfc3339, .programs, .w3c] {
          _ = Timestamp(iso8601: changed, profile)
          _ = Timestamp(iso8601: Array(changed[..<place]), profile)
        }
      }
    }
  }

  @Test func `digits are padded with zeros`() {
    var text: [UInt8] = []
    text.append(3, digitsOf: 7)
    text.append(2, digitsOf: 12_345)
    text.append(1, digitsOf: 0)
    #expect(text == Array("007450".utf8))
  }
}
