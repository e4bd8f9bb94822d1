import Bytes
import Testing

@Suite struct AgeLimitTests {
  @Test func `an age that equals the limit is neither older nor younger`() throws {
    let now = try #require(Timestamp(secondsSince1970: 1_700_000_000.25))
    let limit = AgeLimit(86_400, at: now)
    for (offset, isOlder, isYounger) in [
      (-0.25, true, false), (0, false, false), (0.25, false, true), (86_400, false, true),
      (90_000, false, true),
    ] {
      let time = try #require(Timestamp(secondsSince1970: 1_699_913_600.25 + offset))
      #expect(limit.isExceeded(by: time) == isOlder, "\(offset)")
      #expect(limit.isNotReached(by: time) == isYounger, "\(offset)")
    }
  }

  @Test func `nothing exceeds a limit before the first representable time`() throws {
    let now = try #require(Timestamp(secondsSince1970: 1_700_000_000))
    for seconds in [1e11, 1e12, .infinity, .nan] {
      let limit = AgeLimit(seconds, at: now)
      #expect(limit.cutoff == .earliest)
      #expect(!limit.isExceeded(by: .earliest))
    }
  }

  @Test func `file times have nanoseconds`() {
    #expect(Timestamp(nanosecondsSince1970: 1_500_000_000).secondsSince1970 == 1.5)
    let years = [Int64.min, .max].map { Timestamp(nanosecondsSince1970: $0) }
    #expect(years.allSatisfy { Timestamp(secondsSince1970: $0.secondsSince1970) == $0 })
  }
}
