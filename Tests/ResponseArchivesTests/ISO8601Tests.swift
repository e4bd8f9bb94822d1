import Bytes
import ResponseStorage
import Testing

@testable import ResponseArchives

@Suite struct ISO8601Tests {
  /// 2026-01-31 12:34:56 UTC, by `date -u -d … +%s`.
  private static let seconds = 1_769_862_896.0

  @Test(arguments: [
    ("2026-01-31T12:34:56Z", 0), ("2026-01-31 12:34:56Z", 0), ("2026-01-31T12:34:56", 0),
    ("2026-01-31T12:34:56.5Z", 0.5), ("2026-01-31T12:34:56,25Z", 0.25),
    ("2026-01-31T12:34:56.1234567890123Z", 0.123456789), ("2026-01-31T13:34:56+01:00", 0),
    ("2026-01-31T07:04:56-0530", 0), ("2026-01-31T12:34:56.000-00", 0),
    ("2026-02-01T02:34:56.5+14:00", 0.5), ("2026-01-31T12:34:60Z", 3),
  ])
  func `a date and time is read as programs write it`(text: String, fraction: Double) {
    #expect(
      Timestamp(iso8601: ByteString(text))
        == Timestamp(secondsSince1970: Self.seconds + fraction))
  }

  @Test(arguments: [
    "", "2026", "2026-01-31", "2026-01-31T12:34Z", "2026-02-30T00:00:00Z", "2026-01-31T24:00:00Z",
    "2026-01-31T12:34:61Z", "2026-01-31T12:34:56.Z", "2026-01-31T12:34:56ZZ",
    "2026-01-31T12:34:56+24:00", "2026-01-31T12:34:56+1", "+026-01-31T12:34:56Z",
    "0000-01-31T12:34:56Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-23:59",
    "٢٠٢٦-01-31T12:34:56Z",
  ])
  func `anything else is none`(text: String) {
    #expect(Timestamp(iso8601: ByteString(text)) == nil)
  }
}
