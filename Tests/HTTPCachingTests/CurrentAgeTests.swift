import HTTPCaching
import Testing

@Suite struct CurrentAgeTests {
  private let now = Sample.now

  @Test func `the example of the arithmetic`() {
    // Generated at -6341, received at -5141, with an Age of 900.
    let exchange = Sample.response(
      "Date: \(Sample.date(-6_341))", "Age: 900", requestTime: now - 5_143,
      receivedAt: now - 5_141)
    let age = CurrentAge(of: exchange, at: now)
    #expect(age.apparentAge == 1_200)
    #expect(age.ageValue == 900)
    #expect(age.responseDelay == 2)
    #expect(age.correctedAgeValue == 902)
    #expect(age.correctedInitialAge == 1_200)
    #expect(age.residentTime == 5_141)
    #expect(age.seconds == 6_341)
    #expect(age.fieldFindings(about: exchange) == [])
  }

  @Test func `Age is the first member of the first line, in digits`() {
    for (lines, expected) in [
      (["Age: 5"], AgeField.seconds(5)), (["Age: 7200, 0"], .seconds(7_200)),
      (["Age: 7200", "Age: 0"], .seconds(7_200)), (["Age: 0", "age: 9"], .seconds(0)),
      (["Age:   5 "], .seconds(5)), (["Age: 5 , 6"], .seconds(5)),
      (["Age: 99999999999999999999"], .seconds(2_147_483_648)),
      (["Age: abc"], .invalid(bytes("abc"))), (["Age: -1"], .invalid(bytes("-1"))),
      (["Age: 1.5"], .invalid(bytes("1.5"))), (["Age: \"5\""], .invalid(bytes("\"5\""))),
      (["Age: "], .invalid([])), (["Age: x, 5"], .invalid(bytes("x, 5"))), ([], .absent),
    ] {
      #expect(AgeField(Sample.fields(lines)) == expected, "\(lines)")
      #expect(AgeField(Sample.fields(lines)).ageValue >= 0)
    }
  }

  @Test func `clock differences are noted, and do not count as age`() {
    let fromAhead = Sample.response("Date: \(Sample.date(30))")
    let ahead = CurrentAge(of: fromAhead, at: now + 5)
    #expect(ahead.apparentAge == 0)
    #expect(ahead.seconds == 5)
    #expect(ahead.fieldFindings(about: fromAhead).map(\.kind) == [.originClockAhead])
    #expect(ahead.fieldFindings(about: fromAhead).map(\.seconds) == [30])
    let inFuture = Sample.response("Age: 7")
    let back = CurrentAge(of: inFuture, at: now - 60)
    #expect(back.residentTime == 0)
    #expect(back.seconds == 7)
    #expect(back.fieldFindings(about: inFuture).map(\.kind) == [.clockSetBack])
    #expect(back.fieldFindings(about: inFuture).map(\.seconds) == [60])
    let delay = CurrentAge(of: Sample.response(requestTime: now + 9), at: now)
    #expect(delay.responseDelay == 0)
  }

  @Test func `an invalid date is replaced by the time of receipt`() {
    let exchange = Sample.response("Date: today", "Age: x")
    let age = CurrentAge(of: exchange, at: now + 1)
    #expect(age.seconds == 1)
    #expect(age.fieldFindings(about: exchange).map(\.kind) == [.invalidAge, .invalidDate])
    #expect(age.fieldFindings(about: exchange).map { text($0.value) } == ["x", "today"])
  }

  @Test func `a two-digit year is resolved from the time of receipt`() {
    // The year was 1994 on receipt, and stays 1994.
    let exchange = Sample.response(
      "Date: Sunday, 06-Nov-94 08:49:37 GMT", receivedAt: 784_111_777)
    for now in [784_111_777, 4_000_000_000] as [Int64] {
      #expect(CurrentAge(of: exchange, at: now).apparentAge == 0)
    }
  }
}
