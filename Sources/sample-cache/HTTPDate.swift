import Bytes
import ResponseStorage

/// Writes moments as header fields give them.
enum HTTPDate {
  /// Returns a moment as an IMF-fixdate (RFC 9110 §5.6.7).
  static func text(of moment: Timestamp) -> String {
    let time = CivilTime(moment)
    let weekday = weekdays[CivilCalendar.weekday(ofSecond: moment.wholeSeconds)]
    return "\(weekday), \(twoDigits(time.day)) \(months[Int(time.month) - 1]) \(time.year) "
      + "\(twoDigits(time.hour)):\(twoDigits(time.minute)):\(twoDigits(time.second)) GMT"
  }

  private static func twoDigits(_ number: Int64) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }

  private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
}
