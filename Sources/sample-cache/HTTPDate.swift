import Bytes
import ResponseStorage

/// Formats dates for header fields.
enum HTTPDate {
  /// Returns a date as an IMF-fixdate (RFC 9110 §5.6.7).
  static func text(of moment: Timestamp) -> String {
    let time = CivilTime(moment)
    let weekday = weekdays[CivilCalendar.weekday(ofSecond: moment.wholeSeconds)]
    var text: [UInt8] = []
    text.append(time)
    let clock = String(decoding: text.suffix(8), as: UTF8.self)
    let day = String(decoding: text[8..<10], as: UTF8.self)
    return "\(weekday), \(day) \(months[Int(time.month) - 1]) \(time.year) \(clock) GMT"
  }

  private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
}
