import Administration
import Bytes
import ResponseStorage
import TestSupport
import Testing

/// Tests that all features that compare ages agree on the exact limit.
@Suite struct AgeTests {
  @Test func `options, limits, rules and expressions agree on what is too old`() throws {
    for seed in 0..<500 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      let seconds = Int64.random(in: 0...40_000_000, using: &random)
      let now = try #require(
        Timestamp(secondsSince1970: 1_700_000_000 + .random(in: 0..<1, using: &random)))
      let steps = Double(Int64.random(in: -2...2, using: &random))
      var response = StoredResponse(id: .row(1))
      response.stored = Timestamp(
        secondsSince1970: now.secondsSince1970 - Double(seconds) + steps / 4_194_304)
      let (isOlder, isYounger) = (steps < 0, steps > 0)

      var criteria = SelectionCriteria()
      criteria.olderThan = Double(seconds)
      #expect(
        try criteria.selection(at: now).contains(response, now: now) == isOlder, "seed \(seed)")
      criteria = SelectionCriteria()
      criteria.newerThan = Double(seconds)
      #expect(
        try criteria.selection(at: now).contains(response, now: now) == isYounger, "seed \(seed)")
      for (sign, expected) in [(">", isOlder), ("<", isYounger), (">=", !isYounger)] {
        criteria = SelectionCriteria()
        criteria.conditions = [try Condition("age \(sign) \(seconds)s")]
        #expect(
          try criteria.selection(at: now).contains(response, now: now) == expected, "seed \(seed)")
      }

      var limits = CacheLimits()
      limits.age = Double(seconds)
      let plan = try RemovalPlan(
        enforcing: limits, on: MemoryStore([response]), among: Selection(), now: now)
      #expect(try plan.entries.array.map(\.reason) == (isOlder ? [.tooOld] : []), "seed \(seed)")

      var rule = EntryRule()
      (rule.expireAfter, rule.revalidateAfter) = (Double(seconds), Double(seconds))
      let rules = EntryRules([rule], at: now)
      #expect(
        try rules.verdict(on: response)?.fate == (isOlder ? .expire : .limit),
        "seed \(seed)")
      #expect(
        try rules.revalidation(of: response)?.isDue == isOlder, "seed \(seed)")
    }
  }

  @Test func `an age limit agrees with the difference of two times`() throws {
    for seed in 0..<20_000 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      // Times in stores have fractions of a second; durations are whole seconds.
      let seconds = Double(Int64.random(in: 0...100_000_000, using: &random))
      let now = try #require(
        Timestamp(secondsSince1970: 1_700_000_000 + .random(in: 0..<1, using: &random)))
      let steps = Double(Int64.random(in: -4...4, using: &random))
      let time = try #require(
        Timestamp(secondsSince1970: now.secondsSince1970 - seconds + steps / 4_194_304))
      let limit = AgeLimit(seconds, at: now)
      #expect(limit.isExceeded(by: time) == (time.age(at: now) > seconds), "seed \(seed)")
      #expect(limit.isNotReached(by: time) == (time.age(at: now) < seconds), "seed \(seed)")
    }
  }
}
