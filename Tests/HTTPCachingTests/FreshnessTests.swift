import HTTPCaching
import Testing

@Suite struct FreshnessTests {
  private let now = Sample.now

  @Test func `a response is stale when its age equals its lifetime`() {
    let exchange = Sample.response("Cache-Control: max-age=60", "Date: \(Sample.date())")
    for (offset, isFresh, remaining, stale) in [
      (0, true, 60, 0), (59, true, 1, 0), (60, false, 0, 0), (61, false, 0, 1),
    ] as [(Int64, Bool, Int64, Int64)] {
      let freshness = Freshness(of: exchange, at: now + offset)
      #expect(freshness.isFresh == isFresh)
      #expect(freshness.remainingSeconds == remaining)
      #expect(freshness.staleSeconds == stale)
      #expect(freshness.expiresAt == now + 60)
    }
  }

  @Test func `without a lifetime there is no expiry`() {
    let freshness = Freshness(of: Sample.response("ETag: \"a\""), at: now + 5)
    #expect(!freshness.isFresh)
    #expect(freshness.expiresAt == nil)
    #expect(freshness.staleSeconds == 5)
  }

  /// Returns a random response from everything that freshness depends on.
  private func response(seed: UInt64) -> Exchange {
    var generator = SeededGenerator(seed: seed)
    let times: [Int64] = [
      now, now - 1, now + 1, now - 86_400, 0, -62_135_596_800, 253_402_300_799, .min, .max,
    ]
    func number() -> String {
      ["0", "60", "2147483648", "99999999999999999999", "-1", "x"]
        .randomElement(using: &generator) ?? ""
    }
    func date() -> String {
      let dates = [
        Sample.date(), Sample.date(-600), Sample.date(600), "0", "Mon Jan  1 00:00:00 0001",
        "Fri, 31 Dec 9999 23:59:60 GMT", "Friday, 31-Dec-99 23:59:59 GMT",
      ]
      return dates.randomElement(using: &generator) ?? ""
    }
    var lines: [String] = []
    for line in [
      "Cache-Control: max-age=\(number())", "Cache-Control: public", "Age: \(number())",
      "Date: \(date())", "Expires: \(date())", "Last-Modified: \(date())",
      "Cache-Control: stale-while-revalidate=\(number())",
    ] where Bool.random(using: &generator) {
      lines.append(line)
    }
    return Exchange(
      status: [200, 302, 500, .max, .min, nil].randomElement(using: &generator) ?? nil,
      fields: Sample.fields(lines), requestTime: times.randomElement(using: &generator),
      responseTime: times.randomElement(using: &generator) ?? now)
  }

  @Test func `nothing is negative, and nothing gets fresher with time`() {
    let moments: [Int64] = [
      .min, -62_135_596_800, 0, now - 1, now, now + 1, now + 59, now + 60, 253_402_300_799, .max,
    ]
    var fresh = 0
    for seed in 0..<5_000 as Range<UInt64> {
      let exchange = response(seed: seed)
      var before: Freshness?
      for moment in moments {
        let freshness = Freshness(of: exchange, at: moment)
        let age = freshness.age
        let parts = [
          freshness.lifetime.seconds, age.apparentAge, age.ageValue, age.responseDelay,
          age.correctedAgeValue, age.correctedInitialAge, age.residentTime, age.seconds,
          freshness.remainingSeconds, freshness.staleSeconds,
        ]
        #expect(parts.allSatisfy { $0 >= 0 }, "seed \(seed)")
        #expect(freshness.isFresh == (freshness.remainingSeconds > 0), "seed \(seed)")
        if freshness.isFresh { fresh += 1 }
        if let before {
          #expect(before.age.seconds <= age.seconds, "seed \(seed)")
          #expect(before.isFresh || !freshness.isFresh, "seed \(seed)")
          #expect(before.remainingSeconds >= freshness.remainingSeconds, "seed \(seed)")
          #expect(before.lifetime == freshness.lifetime, "seed \(seed)")
          #expect(before.expiresAt == freshness.expiresAt, "seed \(seed)")
        }
        before = freshness
        // None of these traps, whatever the numbers are.
        _ = Reuse(of: exchange, for: Request(), at: moment)
      }
      _ = Storability(of: exchange)
      _ = ConditionalRequest(validating: exchange, for: nil)
      _ = FieldFinding.all(about: exchange)
    }
    #expect(fresh > 1_000)
  }

  @Test func `a response is stale exactly from its expiry`() {
    var checked = 0
    for seed in 0..<5_000 as Range<UInt64> {
      let exchange = response(seed: seed)
      let freshness = Freshness(of: exchange, at: exchange.responseTime)
      guard freshness.isFresh, let expiresAt = freshness.expiresAt, expiresAt != .max else {
        continue
      }
      checked += 1
      #expect(Freshness(of: exchange, at: expiresAt - 1).isFresh, "seed \(seed)")
      #expect(!Freshness(of: exchange, at: expiresAt).isFresh, "seed \(seed)")
    }
    #expect(checked > 300)
  }

  @Test func `the order of different fields does not matter`() {
    for seed in 0..<1_000 as Range<UInt64> {
      let exchange = response(seed: seed)
      var generator = SeededGenerator(seed: seed)
      let fields = FieldSection(exchange.fields.lines.shuffled(using: &generator))
      let shuffled = Exchange(
        status: exchange.status, fields: fields, requestTime: exchange.requestTime,
        responseTime: exchange.responseTime)
      #expect(Freshness(of: exchange, at: now) == Freshness(of: shuffled, at: now), "seed \(seed)")
    }
  }

  @Test func `field names are case-insensitive`() {
    for seed in 0..<200 as Range<UInt64> {
      let exchange = response(seed: seed)
      let lines = exchange.fields.lines.map {
        FieldLine(name: bytes(text($0.name).uppercased()), value: $0.value)
      }
      let capital = Exchange(
        status: exchange.status, fields: FieldSection(lines), requestTime: exchange.requestTime,
        responseTime: exchange.responseTime)
      #expect(Freshness(of: exchange, at: now) == Freshness(of: capital, at: now), "seed \(seed)")
    }
  }
}
