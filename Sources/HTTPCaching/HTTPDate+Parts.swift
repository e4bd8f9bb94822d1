extension HTTPDate {
  static let secondsInDay: Int64 = 86_400

  /// 0001-01-01 00:00:00 and 10000-01-01 00:00:00 UTC.
  static let firstSecond: Int64 = -62_135_596_800
  static let endOfTime: Int64 = 253_402_300_800

  static let longDays = [
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
  ].map { Array($0.utf8) }
  private static let months = Array("janfebmaraprmayjunjulaugsepoctnovdec".utf8)
  private static let shortDays = Array("montuewedthufrisatsun".utf8)

  /// What follows the name of the day in `Sun, 06 Nov 1994 08:49:37 GMT`, in
  /// `Sunday, 06-Nov-94 08:49:37 GMT` and in `Sun Nov  6 08:49:37 1994`: `0` stands for a digit, `*`
  /// for any byte, a letter for itself in either case.
  static let fixedForm = Array(", 00 *** 0000 00:00:00 gmt".utf8)
  static let shortYearForm = Array(", 00-***-00 00:00:00 gmt".utf8)
  static let plainForm = Array(" *** *0 00:00:00 0000".utf8)

  /// Whether the text from a position on has a form.
  static func fits(_ text: [UInt8], _ start: Int, _ form: [UInt8]) -> Bool {
    guard text.count - start == form.count else { return false }
    for (index, expected) in form.enumerated() {
      let byte = text[start + index]
      switch expected {
      case UInt8(ascii: "0"): if !byte.isDigit { return false }
      case UInt8(ascii: "*"): continue
      default: if byte.lowercasedASCII != expected { return false }
      }
    }
    return true
  }

  /// The number that digits write.
  static func number(_ text: [UInt8], _ start: Int, _ count: Int) -> Int64 {
    text[start..<(start + count)].reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
  }

  /// The day of the week at the start of the text; 0 is Monday.
  static func shortDay(_ text: [UInt8]) -> Int? { name(text, at: 0, in: shortDays) }

  /// The month at a position; 1 is January.
  static func month(_ text: [UInt8], at position: Int) -> Int? {
    name(text, at: position, in: months).map { $0 + 1 }
  }

  /// The place in `names` of the name of three letters at a position.
  private static func name(_ text: [UInt8], at position: Int, in names: [UInt8]) -> Int? {
    let first = text[position].lowercasedASCII
    let second = text[position + 1].lowercasedASCII
    let third = text[position + 2].lowercasedASCII
    for start in stride(from: 0, to: names.count, by: 3)
    where names[start] == first && names[start + 1] == second && names[start + 2] == third {
      return start / 3
    }
    return nil
  }

  /// The second of the day that `08:49:37` writes, or `nil` if there is none.
  static func secondOfDay(_ text: [UInt8], at position: Int) -> Int64? {
    let hour = number(text, position, 2)
    let minute = number(text, position + 3, 2)
    let second = number(text, position + 6, 2)
    guard hour < 24, minute < 60, second <= 60 else { return nil }
    return hour * 3_600 + minute * 60 + second
  }

  /// The days from 1 January 1970 to a day of the Gregorian calendar, or `nil` if there is no such
  /// day.
  static func daysSince1970(_ year: Int64, month: Int, day: Int64) -> Int64? {
    guard year >= 1, day >= 1, day <= length(ofMonth: month, in: year) else { return nil }
    // Counted from 1 March, so that the leap day is the last of its year.
    let years = month > 2 ? year : year - 1
    let monthsFromMarch = Int64(month > 2 ? month - 3 : month + 9)
    let leapDays = years / 4 - years / 100 + years / 400
    return years * 365 + leapDays + (153 * monthsFromMarch + 2) / 5 + day - 1 - 719_468
  }

  private static func length(ofMonth month: Int, in year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

extension Int64 {
  /// The quotient rounded down, also for a number below zero.
  func quotient(by divisor: Int64) -> Int64 {
    (self >= 0 ? self : self - divisor + 1) / divisor
  }
}
