import HTTPCaching
import Testing

@Suite struct VaryTests {
  /// Matches a stored response with `Vary` and its request against a presented request.
  private func match(_ vary: String, _ stored: [String]?, _ presented: [String]) -> VaryMatch {
    let request = stored.map { Request(fields: Sample.fields($0)) }
    let exchange = Sample.response("Vary: \(vary)", request: request)
    return VaryMatch(exchange, presented: Sample.fields(presented))
  }

  @Test func `the named fields are listed once`() {
    #expect(Vary(Sample.fields()) == .nothing)
    #expect(Vary(Sample.fields("Vary: ")) == .nothing)
    #expect(Vary(Sample.fields("Vary: , ,")) == .nothing)
    #expect(
      Vary(Sample.fields("Vary: Accept, Cookie", "vary: ACCEPT,,Via"))
        == .fields(["accept", "cookie", "via"]))
    for line in ["*", "Accept, *", "*, Accept", "Accept,*,Cookie"] {
      #expect(Vary(Sample.fields("Vary: \(line)")) == .anything, "\(line)")
    }
    #expect(Vary(Sample.fields("Vary: Accept", "Vary: *")) == .anything)
  }

  @Test func `a field matches if its list matches`() {
    for (stored, presented, matches) in [
      (["Accept: a"], ["Accept: a"], true), (["ACCEPT: a"], ["accept: a"], true),
      (["Accept: a"], ["Accept: A"], false), (["Accept: a, b"], ["Accept: a ,\tb"], true),
      (["Accept: a, b"], ["Accept: a", "Accept: b"], true),
      (["Accept: a, b"], ["Accept: b, a"], false),
      (["Accept: a"], ["Accept: a", "Cookie: x"], true), ([], [], true),
      (["Accept: a"], [], false), ([], ["Accept: a"], false), ([], ["Accept: "], false),
      (["Accept: "], ["Accept: "], true), (["Accept: \"a ,b\""], ["Accept: \"a , b\""], false),
      (["Accept: a b"], ["Accept: a  b"], false),
    ] {
      let result = match("Accept", stored, presented)
      if matches {
        #expect(result == .matches(["Accept"]), "\(stored) and \(presented)")
      } else {
        guard case .differs(let differences) = result else {
          Issue.record("\(stored) and \(presented): \(result)")
          continue
        }
        #expect(differences.map(\.name) == ["Accept"])
      }
    }
  }

  @Test func `differences are reported with both values`() {
    guard
      case .differs(let differences) = match(
        "Accept-Language, Cookie, Accept", ["Accept-Language: en", "Accept: a"],
        ["Accept-Language: de", "Cookie: x", "Accept: a"])
    else {
      Issue.record("it matches")
      return
    }
    #expect(differences.map(\.name) == ["accept-language", "cookie"])
    #expect(differences.map(\.stored) == [bytes("en"), nil])
    #expect(differences.map(\.presented) == [bytes("de"), bytes("x")])
  }

  @Test func `an asterisk never matches, and without a stored request nothing is known`() {
    #expect(match("*", ["Accept: a"], ["Accept: a"]) == .never)
    #expect(match("*", nil, []) == .never)
    #expect(match("Accept", nil, ["Accept: a"]) == .unknown(["Accept"]))
    #expect(match("", nil, []) == .nothingNominated)
  }

  @Test func `a Vary record takes precedence over the stored request`() {
    let exchange = Sample.response(
      "Vary: Accept, Cookie", request: Sample.request("Cookie: old"),
      varyRecord: Sample.fields("accept: a"))
    #expect(
      VaryMatch(exchange, presented: Sample.fields("Accept: a")) == .matches(["accept", "cookie"]))
    guard case .differs = VaryMatch(exchange, presented: Sample.fields("Cookie: old")) else {
      Issue.record("it matches")
      return
    }
    let without = Sample.response(
      "Vary: Accept", request: nil, varyRecord: Sample.fields())
    #expect(VaryMatch(without, presented: Sample.fields()) == .matches(["accept"]))
  }

  @Test func `many names are compared`() {
    let names = (0..<100_000).map { "a\($0)" }.joined(separator: ",")
    guard case .matches(let matched) = match(names, [], []) else {
      Issue.record("it differs")
      return
    }
    #expect(matched.count == 100_000)
  }
}
