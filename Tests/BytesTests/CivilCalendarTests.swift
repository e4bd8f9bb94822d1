import Bytes
import Foundation
import Testing

@Suite struct CivilCalendarTests {
  @Test func `every day of four centuries follows the one before`() throws {
    var (day, weekday) = (
      try #require(CivilCalendar.daysSince1970(year: 1800, month: 1, day: 1)), 2
    )
    for year in 1800...2200 as ClosedRange<Int64> {
      for month in 1...12 as ClosedRange<Int64> {
        for date in 1...31 as ClosedRange<Int64> {
          guard let found = CivilCalendar.daysSince1970(year: year, month: month, day: date) else {
            continue
          }
          #expect(found == day)
          let moment = try #require(Timestamp(secondsSince1970: Double(day * 86_400 + 86_399)))
          let time = CivilTime(moment)
          #expect(time.year == year && time.month == month && time.day == date)
          #expect(time.hour == 23 && time.minute == 59 && time.second == 59)
          #expect(time.secondsSince1970 == day * 86_400 + 86_399)
          #expect(CivilCalendar.weekday(ofSecond: day * 86_400) == weekday)
          #expect(CivilCalendar.weekday(ofSecond: day * 86_400 + 86_399) == weekday)
          day += 1
          weekday = (weekday + 1) % 7
        }
      }
    }
    #expect(CivilCalendar.daysSince1970(year: 2201, month: 1, day: 1) == day)
  }

  @Test func `the first and last year match Timestamp`() throws {
    let years = CivilCalendar.seconds
    for (seconds, text) in [
      (years.lowerBound, [1, 1, 1, 0, 0, 0]), (years.upperBound - 1, [9999, 12, 31, 23, 59, 59]),
      (0, [1970, 1, 1, 0, 0, 0]), (-1, [1969, 12, 31, 23, 59, 59]),
    ] as [(Int64, [Int64])] {
      let time = CivilTime(try #require(Timestamp(secondsSince1970: Double(seconds))))
      #expect([time.year, time.month, time.day, time.hour, time.minute, time.second] == text)
      #expect(time.secondsSince1970 == seconds)
    }
    #expect(Timestamp(secondsSince1970: Double(years.lowerBound) - 1) == nil)
    #expect(Timestamp(secondsSince1970: Double(years.upperBound)) == nil)
    #expect(Timestamp(secondsSince1970: .nan) == nil)
    #expect(Timestamp(secondsSince2001: 0)?.wholeSeconds == 978_307_200)
  }

  @Test(
    arguments: [
      (0, 1, 1), (-1, 1, 1), (2026, 0, 1), (2026, 13, 1), (2026, 1, 0), (2026, 1, 32),
      (2026, 2, 29),
      (1900, 2, 29), (2026, 4, 31), (.max, 1, 1), (.min, 1, 1), (2026, .max, 1), (2026, 1, .max),
    ] as [(Int64, Int64, Int64)])
  func `invalid days are refused`(year: Int64, month: Int64, day: Int64) {
    #expect(CivilCalendar.daysSince1970(year: year, month: month, day: day) == nil)
    #expect(CivilTime(year: year, month: month, day: day) == nil)
  }

  @Test func `a time of day has no leap second`() {
    #expect(CivilTime(year: 2016, month: 12, day: 31, hour: 23, minute: 59, second: 60) == nil)
    #expect(CivilTime(year: 2016, month: 12, day: 31, hour: 24) == nil)
    #expect(CivilTime(year: 2016, month: 12, day: 31, hour: 23, minute: 60) == nil)
    #expect(CivilTime(year: 2016, month: 12, day: 31, hour: -1) == nil)
    #expect(CivilTime(year: 10_000, month: 1, day: 1) == nil)
  }

  @Test func `dates match Foundation's calendar`() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
    var generator = Generator(state: 3)
    for _ in 0..<2_000 {
      // Foundation's calendar is Julian before 1582.
      let seconds = Int64.random(in: -12_000_000_000..<253_402_300_800, using: &generator)
      let date = Date(timeIntervalSince1970: Double(seconds))
      let parts = calendar.dateComponents(
        [.year, .month, .day, .hour, .minute, .second], from: date)
      let time = CivilTime(try #require(Timestamp(secondsSince1970: Double(seconds))))
      #expect(parts.year == Int(time.year) && parts.month == Int(time.month))
      #expect(parts.day == Int(time.day) && parts.hour == Int(time.hour))
      #expect(parts.minute == Int(time.minute) && parts.second == Int(time.second))
      #expect(time.secondsSince1970 == seconds)
    }
  }
}
