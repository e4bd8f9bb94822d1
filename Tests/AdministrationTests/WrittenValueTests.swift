import Administration
import Bytes
import ResponseStorage
import Testing

@Suite struct WrittenValueTests {
  @Test(
    arguments: [
      ("0", 0), ("4096B", 4_096), ("4K", 4_096), ("1.5KiB", 1_536), ("2M", 2_097_152),
      ("1G", 1_073_741_824), ("1T", 1_099_511_627_776), ("4kB", 4_000), ("3MB", 3_000_000),
      ("4k", 4_096), ("1mb", 1_000_000), ("2gib", 2_147_483_648),
    ] as [(String, ByteCount?)]
      + ["", "K", "-1", "4x", "1e3", ".5K", "4 K", "9999999T", "٤"].map { ($0, nil) })
  func `a size is written with a unit`(_ text: String, _ expected: ByteCount?) {
    #expect((try? WrittenValue.size(text)) == expected)
  }

  @Test(
    arguments: [
      ("90s", 90), ("1.5min", 90), ("12h", 43_200), ("30d", 2_592_000), ("2w", 1_209_600),
      ("250ms", 0.25), ("1y", 31_536_000), ("12mo", 31_536_000), ("1.5mo", 3_942_000),
      ("30days", 2_592_000), ("30 days", 2_592_000), ("1week", 604_800), ("2  Hours", 7_200),
      ("1 d", 86_400), ("5mins", 300), ("10 sec", 10), ("1 month", 2_628_000),
      ("1YEAR", 31_536_000), ("2 minutes", 120), ("1 second", 1),
    ] as [(String, Double?)]
      + [
        "", "90", "1m", "1 m", "1ms ", "1M", "-1s", "1yr", "days", " 1 day",
        "1 dayss", "1\tday", "1 days 2", "1 d ay", "1 ss", "1 ms s", "99999999999999d",
      ].map { ($0, nil) })
  func `a duration is written with a unit`(_ text: String, _ expected: Double?) {
    #expect((try? WrittenValue.duration(text)) == expected)
  }

  @Test(
    arguments: [
      ("2026-01-31T12:00:00Z", 1_769_860_800), ("2026-01-31t12:00:00z", 1_769_860_800),
      ("2026-01-31 12:00:00.25+01:30", 1_769_855_400.25),
      ("2026-01-31T12:00:00-00:30", 1_769_862_600), ("0001-01-01T00:00:00Z", -62_135_596_800),
    ] as [(String, Double?)]
      + [
        "", "2026", "2026-1-31", "2026-02-30", "2026-01-31T", "2026-01-31T12:00Z",
        "2026-01-31T12:00:00", "2026-01-31T24:00:00Z", "2026-01-31T12:00:00.Z",
        "2026-01-31T12:00:00+0100", "2026-01-31T12:00:00+24:00", "2026-01-31T12:00:00ZZ",
        "2026-01-31T12:00:00.1234567890123456789Z", "0001-01-01T00:00:00+01:00", "2026-01-31x",
      ].map { ($0, nil) })
  func `a time is written as in RFC 3339`(_ text: String, _ expected: Double?) {
    #expect((try? WrittenTime(text))?.time.secondsSince1970 == expected)
  }

  @Test func `an error contains the invalid value and a valid one`() throws {
    let error = #expect(throws: WrittenValueError.self) { try WrittenValue.duration("1m") }
    #expect(
      error?.description
        == "'1m' could mean minutes or months. Write '1min' or '1mo'.")
  }

  @Test(
    arguments: [
      ("lits", "list"), ("list", "list"), ("x", nil), ("", nil), ("sho", "show"), ("abcdef", nil),
      // Two letters may differ only in a long word; swapped letters count once.
      ("sohw", "show"), ("sihw", nil), ("slow", "show"), ("l", nil), ("li", nil),
    ] as [(String, String?)])
  func `a misspelt word gets a suggestion, another word does not`(
    _ word: String, _ expected: String?
  ) {
    #expect(Spelling.nearest(to: word, among: ["list", "show"]) == expected)
  }
}
