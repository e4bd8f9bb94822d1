import Bytes

extension Timestamp {
  /// Creates a moment from `YYYY-MM-DD HH:MM:SS` in UTC, which is how SQLite writes
  /// `CURRENT_TIMESTAMP`; `nil` for anything else.
  init?(databaseText text: Span<UInt8>) {
    guard let time = CivilTime(text, separator: UInt8(ascii: " ")) else { return nil }
    self.init(secondsSince1970: Double(time.secondsSince1970))
  }
}
