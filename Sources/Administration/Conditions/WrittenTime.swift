public import Bytes
import Files

/// A time as users write it: RFC 3339, or a date, which means its midnight in the local time zone.
public struct WrittenTime: Hashable, Sendable {
  /// The time.
  public let time: Timestamp
  /// A note for the user if the time was given as a local date.
  public let note: String?

  /// Parses a time.
  public init(_ text: String) throws(WrittenValueError) {
    let failure = WrittenValueError(
      text, "is not a time",
      hint: "use a date ('2026-01-31', local midnight) or RFC 3339 ('2026-01-31T12:00:00Z',"
        + " '2026-01-31T12:00:00+01:00')")
    let bytes = Array(text.utf8)
    guard let day = CivilTime(bytes.span) else {
      guard let time = Timestamp(iso8601: bytes, .rfc3339) else { throw failure }
      self.time = time
      note = nil
      return
    }
    // The system's time zone decides, because the day on which a clock changes has no fixed offset,
    // and in some zones no midnight.
    guard let midnight = LocalTime.midnight(year: day.year, month: day.month, day: day.day),
      let time = Timestamp(secondsSince1970: Double(midnight.seconds))
    else { throw failure }
    self.time = time
    // A scheduled job often runs in another time zone than the shell in which the command was
    // tried, so the zone is always shown.
    note = "reading \(text) as \(text)T00:00:00\(Self.zone(midnight.offset))"
  }

  /// Parses `today` or `yesterday`: the local midnight at which that day began.
  ///
  /// - Parameter now: A time of today.
  public init(day word: String, at now: Timestamp) throws(WrittenValueError) {
    let seconds = Int64(now.secondsSince1970.rounded(.down))
    guard let daysAgo = ["today": Int64(0), "yesterday": 1][word],
      let today = LocalTime.day(ofSecond: seconds),
      let midnight = LocalTime.midnight(
        year: today.year, month: today.month, day: today.day - daysAgo),
      let time = Timestamp(secondsSince1970: Double(midnight.seconds)),
      let local = Timestamp(secondsSince1970: Double(midnight.seconds + midnight.offset))
    else {
      throw WrittenValueError(word, "is not a time", hint: "use a date such as '2026-01-31'")
    }
    self.time = time
    var shown: [UInt8] = []
    shown.append(rfc3339: local)
    note =
      "reading \(word) as \(String(decoding: shown.dropLast(), as: UTF8.self))"
      + Self.zone(midnight.offset)
  }

  /// Creates the time that is a number of seconds before another time.
  public init(_ seconds: Double, before now: Timestamp) {
    time = Timestamp(secondsSince1970: now.secondsSince1970 - seconds) ?? now
    note = nil
  }

  /// Parses text with a date and a time; not a date alone, which users do not mean as a point in time.
  static func moment(_ text: ByteString) -> Timestamp? {
    guard text.bytes.count > 10, let text = text.string else { return nil }
    return try? WrittenTime(text).time
  }

  /// Returns an offset from UTC in seconds in the format of RFC 3339.
  private static func zone(_ offset: Int64) -> String {
    func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let minutes = abs(offset) / 60
    return (offset < 0 ? "-" : "+") + twoDigits(minutes / 60) + ":" + twoDigits(minutes % 60)
  }
}
