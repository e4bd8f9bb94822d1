public import Bytes
import Files

/// A moment as people write it: RFC 3339, or a day, which means its first second here.
public struct WrittenTime: Hashable, Sendable {
  /// The moment.
  public let time: Timestamp
  /// What to tell the user about it, if it was given as a day of the system's time zone.
  public let note: String?

  /// Reads a moment.
  public init(_ text: String) throws(WrittenValueError) {
    let failure = WrittenValueError(
      text, "is not a time",
      hint: "write a day ('2026-01-31', from midnight here) or RFC 3339 ('2026-01-31T12:00:00Z',"
        + " '2026-01-31T12:00:00+01:00')")
    let bytes = Array(text.utf8)
    guard let day = CivilTime(bytes.span) else {
      guard let time = Timestamp(iso8601: bytes, .rfc3339) else { throw failure }
      self.time = time
      note = nil
      return
    }
    guard let midnight = LocalTime.midnight(year: day.year, month: day.month, day: day.day),
      let time = Timestamp(secondsSince1970: Double(midnight.seconds))
    else { throw failure }
    self.time = time
    note = "\(text) is taken as \(text)T00:00:00\(Self.zone(midnight.offset))"
  }

  /// The moment that a text gives with day and time; a day alone would be a moment that nobody meant.
  static func moment(_ text: ByteString) -> Timestamp? {
    guard text.bytes.count > 10, let text = text.string else { return nil }
    return try? WrittenTime(text).time
  }

  /// An offset from UTC, in seconds, as RFC 3339 writes it.
  private static func zone(_ offset: Int64) -> String {
    func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let minutes = abs(offset) / 60
    return (offset < 0 ? "-" : "+") + twoDigits(minutes / 60) + ":" + twoDigits(minutes % 60)
  }
}
