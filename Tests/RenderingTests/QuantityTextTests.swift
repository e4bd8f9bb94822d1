import Bytes
import Rendering
import ResponseStorage
import Testing

struct QuantityTextTests {
  @Test(
    arguments: [
      (0, "0 B"), (512, "512 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (34_918, "34.1 KiB"),
      (102_348, "99.9 KiB"), (102_400, "100 KiB"), (1_048_575, "1.0 MiB"), (468_713_472, "447 MiB"),
      (4_300_000, "4.1 MiB"), (.max, "8.0 EiB"), (-2048, "-2.0 KiB"),
    ] as [(ByteCount, String)])
  func `a size is shown in its largest unit`(size: ByteCount, text: String) {
    #expect(ByteSizeText.text(size) == text)
  }

  @Test(
    arguments: [
      (40, "40s", "40 seconds"), (1, "1s", "1 second"), (300, "5min", "5 minutes"),
      (10_800, "3h", "3 hours"), (12 * 86_400, "12d", "12 days"), (274 * 86_400, "9mo", "9 months"),
      (800 * 86_400, "2y", "2 years"), (Int64.max, "292471208677y", "292471208677 years"),
      (Int64.min, "-292471208677y", "-292471208677 years"),
    ] as [(Int64, String, String)])
  func `an age is shown in its largest unit`(seconds: Int64, text: String, words: String) {
    #expect(AgeText.text(seconds: seconds) == text)
    #expect(AgeText.words(seconds: seconds) == words)
  }

  @Test func `a time is shown as in RFC 3339 and may be in the future`() throws {
    let now = try #require(Samples.now)
    let later = try #require(Timestamp(secondsSince1970: 1_767_225_600.9 + 3 * 86_400))
    let first = try #require(Timestamp(secondsSince1970: -62_135_596_800))
    #expect(TimeText.text(now) == "2026-01-01T00:00:00Z")
    #expect(TimeText.text(first) == "0001-01-01T00:00:00Z")
    #expect(AgeText.text(from: later, to: now) == "in 3d")
    #expect(AgeText.words(from: later, to: now) == "in 3 days")
    #expect(AgeText.words(from: first, to: now) == "2026 years ago")
  }

  @Test(arguments: [0, 9, 10, 1_234_567, -1, .min, .max] as [Int64])
  func `an integer is written in decimal`(value: Int64) {
    var buffer = TextBuffer()
    buffer.append(integer: value)
    #expect(Samples.text(buffer) == "\(value)")
  }
}
