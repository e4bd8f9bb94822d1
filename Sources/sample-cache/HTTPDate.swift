import Bytes
import ResponseStorage

/// Writes moments as header fields give them.
enum HTTPDate {
  /// Returns a moment as an IMF-fixdate (RFC 9110 §5.6.7).
  static func text(of moment: Timestamp) -> String {
    let time = CivilTime(moment)
    // 1970-01-01 was a Thursday.
    let days = (moment.wholeSeconds - time.hour * 3_600 - time.minute * 60 - time.second) / 86_400
    let weekday = weekdays[Int(((days + 4) % 7 + 7) % 7)]
    return "\(weekday), \(twoDigits(time.day)) \(months[Int(time.month) - 1]) \(time.year) "
      + "\(twoDigits(time.hour)):\(twoDigits(time.minute)):\(twoDigits(time.second)) GMT"
  }

  private static func twoDigits(_ number: Int64) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }

  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
}
