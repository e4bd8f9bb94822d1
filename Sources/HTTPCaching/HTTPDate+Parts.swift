extension HTTPDate {
  static let secondsInDay: Int64 = 86_400

  /// 0001-01-01 00:00:00 and 10000-01-01 00:00:00 UTC.
  static let firstSecond: Int64 = -62_135_596_800
  static let endOfTime: Int64 = 253_402_300_800

  static let longDays = [
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
  ].map { Array($0.utf8) }

  /// What follows the name of the day in `Sunday, 06-Nov-94 08:49:37 GMT` and in
  /// `Sun Nov  6 08:49:37 1994`: `0` stands for a digit, `*` for any byte, a letter for itself in either case.
  static let shortYearForm = Array(", 00-***-00 00:00:00 gmt".utf8)
  static let plainForm = Array(" *** *0 00:00:00 0000".utf8)

  /// Whether 29 bytes have the form of `Sun, 06 Nov 1994 08:49:37 GMT`, but for the names of day and month.
  ///
  /// Nearly all dates have it: it is not looked up in a table.
  static func hasFixedForm(_ text: Span<UInt8>) -> Bool {
    func isDigit(_ index: Int) -> Bool { text[index].isDigit }
    func isSpace(_ index: Int) -> Bool { text[index] == UInt8(ascii: " ") }
    func isColon(_ index: Int) -> Bool { text[index] == UInt8(ascii: ":") }
    guard text.count == 29, text[3] == UInt8(ascii: ",") else { return false }
    return isSpace(4) && isDigit(5) && isDigit(6) && isSpace(7) && isSpace(11)
      && isDigit(12) && isDigit(13) && isDigit(14) && isDigit(15) && isSpace(16)
      && isDigit(17) && isDigit(18) && isColon(19) && isDigit(20) && isDigit(21) && isColon(22)
      && isDigit(23) && isDigit(24) && isSpace(25) && letters(text, at: 26) == code("g", "m", "t")
  }

  /// Whether the text from a position on has a form.
  static func fits(_ text: Span<UInt8>, _ start: Int, _ form: [UInt8]) -> Bool {
    guard text.count - start == form.count else { return false }
    let (text, form) = (text.extracting(droppingFirst: start), form.span)
    for index in form.indices {
      let byte = text[index]
      switch form[index] {
      case UInt8(ascii: "0"): if !byte.isDigit { return false }
      case UInt8(ascii: "*"): continue
      case let expected: if byte.lowercasedASCII != expected { return false }
      }
    }
    return true
  }

  /// The number that digits write.
  static func number(_ text: Span<UInt8>, _ start: Int, _ count: Int) -> Int64 {
    var number: Int64 = 0
    for position in start..<(start + count) {
      number = number * 10 + Int64(text[position] - UInt8(ascii: "0"))
    }
    return number
  }

  /// The day of the week at the start of the text; 0 is Monday.
  static func shortDay(_ text: Span<UInt8>) -> Int? {
    switch letters(text, at: 0) {
    case code("m", "o", "n"): 0
    case code("t", "u", "e"): 1
    case code("w", "e", "d"): 2
    case code("t", "h", "u"): 3
    case code("f", "r", "i"): 4
    case code("s", "a", "t"): 5
    case code("s", "u", "n"): 6
    default: nil
    }
  }

  /// The month at a position; 1 is January.
  static func month(_ text: Span<UInt8>, at position: Int) -> Int? {
    switch letters(text, at: position) {
    case code("j", "a", "n"): 1
    case code("f", "e", "b"): 2
    case code("m", "a", "r"): 3
    case code("a", "p", "r"): 4
    case code("m", "a", "y"): 5
    case code("j", "u", "n"): 6
    case code("j", "u", "l"): 7
    case code("a", "u", "g"): 8
    case code("s", "e", "p"): 9
    case code("o", "c", "t"): 10
    case code("n", "o", "v"): 11
    case code("d", "e", "c"): 12
    default: nil
    }
  }

  /// Three letters of a text as one number, their case aside.
  private static func letters(_ text: Span<UInt8>, at position: Int) -> UInt32 {
    return UInt32(text[position].lowercasedASCII) << 16
      | UInt32(text[position + 1].lowercasedASCII) << 8
      | UInt32(text[position + 2].lowercasedASCII)
  }

  /// The number of three letters, which the compiler works out.
  @inline(__always)
  private static func code(
    _ first: Unicode.Scalar, _ second: Unicode.Scalar, _ third: Unicode.Scalar
  ) -> UInt32 {
    first.value << 16 | second.value << 8 | third.value
  }

  /// The second of the day that `08:49:37` writes, or `nil` if there is none.
  static func secondOfDay(_ text: Span<UInt8>, at position: Int) -> Int64? {
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
