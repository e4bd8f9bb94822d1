import Administration
import Bytes
import ResponseStorage
import TestSupport
import Testing

@Suite struct EntryRulesTests {
  private static let now = Timestamp(secondsSince1970: 1_000) ?? .epoch

  @Test func `a plan follows rules and limits exactly`() throws {
    for seed in 0..<300 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      let responses = Self.responses(&random)
      let (rules, limits) = (Self.rules(&random), Self.limits(&random))
      let plan = try RemovalPlan(
        enforcing: limits, on: MemoryStore(responses), among: Selection(), by: rules, now: Self.now)
      let expected = Self.removed(responses, rules, limits)
      #expect(try plan.entries.ids == expected, "seed \(seed)")
      let kept = plan.kept.values.reduce(0) { $0 + $1.entries }
      #expect(Int(kept) + expected.count == responses.count, "seed \(seed)")
    }
  }

  @Test func `only fields that rules use are decoded`() throws {
    var criteria = SelectionCriteria()
    criteria.conditions = [try Condition("size > 1")]
    var rule = EntryRule(matching: criteria)
    #expect(EntryRules([rule], at: Self.now).projection == .body)
    rule.expireAfter = 1
    #expect(EntryRules([rule, EntryRule()], at: Self.now).projection == [.body, .stored])
    #expect(EntryRules().projection == [])
  }

  @Test func `an entry of unknown age does not expire`() throws {
    var rule = EntryRule()
    rule.expireAfter = 0
    var response = StoredResponse(id: .row(1))
    #expect(
      try EntryRules([rule], at: Self.now).verdict(on: response) == .init(rule: 1, fate: .limit))
    response.stored = Timestamp(secondsSince1970: 999)
    #expect(
      try EntryRules([rule], at: Self.now).verdict(on: response) == .init(rule: 1, fate: .expire))
    response.stored = Self.now
    #expect(
      try EntryRules([rule], at: Self.now).verdict(on: response) == .init(rule: 1, fate: .limit))
  }

  private static func responses(_ random: inout SplitMix64) -> [StoredResponse] {
    (1...12 as ClosedRange<Int64>).map { number in
      var response = StoredResponse(id: .row(number))
      response.status = .random(in: 200...204, using: &random)
      response.stored = Timestamp(
        secondsSince1970: Double.random(in: 0...999, using: &random).rounded())
      response.bodySize = ByteCount(Int.random(in: 0...100, using: &random))
      response.bodyLocation = .inline
      return response
    }
  }

  private static func rules(_ random: inout SplitMix64) -> EntryRules {
    EntryRules(
      (0..<Int.random(in: 0...4, using: &random)).map { _ in
        var criteria = SelectionCriteria()
        let first = Int64.random(in: 200...204, using: &random)
        criteria.statuses = [first...min(204, first + .random(in: 0...2, using: &random))]
        var rule = EntryRule(matching: criteria)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: rule.action = .keep
        case 1: rule.action = .purge
        case 2: rule.expireAfter = .random(in: 0...1_000, using: &random)
        case 3: rule.entries = .random(in: 0...3, using: &random)
        default: rule.bytes = ByteCount(Int.random(in: 0...200, using: &random))
        }
        return rule
      }, at: now)
  }

  private static func limits(_ random: inout SplitMix64) -> CacheLimits {
    var limits = CacheLimits()
    limits.isBestEffort = true
    if Bool.random(using: &random) { limits.entries = .random(in: 0...12, using: &random) }
    if Bool.random(using: &random) {
      limits.entryBytes = ByteCount(Int.random(in: 0...100, using: &random))
    }
    return limits
  }

  /// Returns the entries to remove, determined one by one.
  private static func removed(
    _ responses: [StoredResponse], _ rules: EntryRules, _ limits: CacheLimits
  ) -> [StoredResponse.ID] {
    let newest = responses.sorted {
      ($0.stored?.secondsSince1970 ?? 0, $0.id) > ($1.stored?.secondsSince1970 ?? 0, $1.id)
    }
    var going: Set<StoredResponse.ID> = []
    var keeping: Set<StoredResponse.ID> = []
    var (counts, sums) = ([Int: Int64](), [Int: ByteCount]())
    for response in newest {
      let index = rules.all.firstIndex { rule in
        rule.match.statuses.contains { $0.contains(response.status ?? 0) }
      }
      if let index {
        let rule = rules.all[index]
        let age = 1_000 - (response.stored?.secondsSince1970 ?? 0)
        if rule.action == .keep { keeping.insert(response.id) }
        if rule.action == .purge { going.insert(response.id) }
        if let most = rule.expireAfter, age > most { going.insert(response.id) }
        counts[index, default: 0] += 1
        sums[index, default: 0] += response.bodySize ?? 0
        if let most = rule.entries, counts[index, default: 0] > most { going.insert(response.id) }
        if let most = rule.bytes, sums[index, default: 0] > most { going.insert(response.id) }
      }
      if let most = limits.entryBytes, response.bodySize ?? 0 > most, !keeping.contains(response.id)
      {
        going.insert(response.id)
      }
    }
    for response in newest.reversed() where !keeping.contains(response.id) {
      if let most = limits.entries, responses.count - going.count > most {
        going.insert(response.id)
      }
    }
    return going.sorted()
  }
}
