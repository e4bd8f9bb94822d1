/// Dates as HTTP writes them (RFC 9110 §5.6.7).
public enum HTTPDate {
  /// Reads a date in one of the three forms that a recipient must accept, and in no other:
  /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`.
  ///
  /// The name of a day must be one, but need not be that of the date. A second of 60 is a leap
  /// second and counts as the second after it, on any day and at any minute; anything else that the
  /// forms do not allow is no date.
  ///
  /// - Parameters:
  ///   - text: The bytes of the field value, without white space around them.
  ///   - now: The moment from which a year of two digits is told, in seconds since
  ///     1970-01-01 00:00:00 UTC: the date is the latest that reads so and is not more than 50
  ///     calendar years ahead of it. A moment outside the years 1 to 9999 tells none.
  /// - Returns: Seconds since 1970-01-01 00:00:00 UTC, or `nil` if it is no such date.
  public static func secondsSince1970(_ text: [UInt8], now: Int64) -> Int64? {
    guard let comma = text.firstIndex(of: UInt8(ascii: ",")) else { return ansi(text) }
    let day = Array(text[..<comma])
    let rest = Array(text[(comma + 1)...])
    if rest.count == 25, shortDays.contains(day) {
      // " 06 Nov 1994 08:49:37 GMT"
      guard rest[0] == space, rest[3] == space, rest[7] == space, rest[12] == space,
        rest[21...].elementsEqual(zone), let dayOfMonth = number(rest[1..<3]),
        let month = months.firstIndex(of: Array(rest[4..<7])), let year = number(rest[8..<12])
      else { return nil }
      return seconds(year, month + 1, dayOfMonth, time: rest[13..<21])
    }
    if rest.count == 23, longDays.contains(day) {
      // " 06-Nov-94 08:49:37 GMT"
      guard rest[0] == space, rest[3] == UInt8(ascii: "-"), rest[7] == UInt8(ascii: "-"),
        rest[10] == space, rest[19...].elementsEqual(zone), let dayOfMonth = number(rest[1..<3]),
        let month = months.firstIndex(of: Array(rest[4..<7])), let short = number(rest[8..<10])
      else { return nil }
      guard now >= firstSecond, now < endOfTime else { return nil }
      let time = rest[11..<19]
      // 400 years have 146,097 days.
      let century = (now - firstSecond) / (146_097 * 86_400 / 4) * 100
      // Of four years that end in 00, one has a 29 February.
      for year in stride(from: century + 100 + short, through: century - 300 + short, by: -100) {
        guard let date = seconds(year, month + 1, dayOfMonth, time: time),
          let before = seconds(year - 50, month + 1, dayOfMonth, time: time)
            ?? seconds(year - 50, 3, 1, time: time)
        else { continue }
        if before <= now { return date }
      }
      return nil
    }
    return nil
  }

  /// `Sun Nov  6 08:49:37 1994`
  private static func ansi(_ text: [UInt8]) -> Int64? {
    guard text.count == 24, shortDays.contains(Array(text[0..<3])), text[3] == space,
      text[7] == space, text[10] == space, text[19] == space,
      let month = months.firstIndex(of: Array(text[4..<7])),
      let dayOfMonth = number(text[8] == space ? text[9..<10] : text[8..<10]),
      let year = number(text[20..<24])
    else { return nil }
    return seconds(year, month + 1, dayOfMonth, time: text[11..<19])
  }

  /// - Parameter time: `08:49:37`.
  private static func seconds(
    _ year: Int64, _ month: Int, _ day: Int64, time: ArraySlice<UInt8>
  ) -> Int64? {
    let time = Array(time)
    guard time[2] == UInt8(ascii: ":"), time[5] == UInt8(ascii: ":"),
      let hour = number(time[0..<2]),
      let minute = number(time[3..<5]), let second = number(time[6..<8]), hour < 24, minute < 60,
      second <= 60, year >= 1, day >= 1
    else { return nil }
    let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths: [Int64] = [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard day <= lengths[month - 1] else { return nil }
    let before = year - 1
    let days =
      before * 365 + before / 4 - before / 100 + before / 400
      + lengths[..<(month - 1)].reduce(0, +) + day - 1 - 719_162
    return days * 86_400 + hour * 3_600 + minute * 60 + second
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
    var value: Int64 = 0
    for digit in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      value = value * 10 + Int64(digit - UInt8(ascii: "0"))
    }
    return value
  }

  /// 0001-01-01 00:00:00 and 10000-01-01 00:00:00 UTC.
  private static let firstSecond: Int64 = -62_135_596_800
  private static let endOfTime: Int64 = 253_402_300_800

  private static let space = UInt8(ascii: " ")
  private static let zone = Array(" GMT".utf8)
  private static let shortDays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].map {
    Array($0.utf8)
  }
  private static let longDays = [
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
  ].map { Array($0.utf8) }
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ].map { Array($0.utf8) }
}
