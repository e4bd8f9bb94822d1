import HTTPCaching
import Testing

@Suite struct ValidatorsTests {
  @Test func `the comparisons of the RFC's table`() {
    // RFC 9110 §8.8.3.2.
    for (one, other, strong, weak) in [
      ("W/\"1\"", "W/\"1\"", false, true), ("W/\"1\"", "W/\"2\"", false, false),
      ("W/\"1\"", "\"1\"", false, true), ("\"1\"", "\"1\"", true, true),
      // More cases, not in the RFC.
      ("\"1\"", "\"2\"", false, false), ("\"\"", "\"\"", true, true),
      ("\"a,b\"", "\"a,b\"", true, true), ("w/\"1\"", "\"1\"", false, false),
      ("1", "1", false, true), ("1", "\"1\"", false, false), ("\"A\"", "\"a\"", false, false),
    ] {
      let (one, other) = (EntityTag(bytes(one)), EntityTag(bytes(other)))
      #expect(one.stronglyEquals(other) == strong && other.stronglyEquals(one) == strong)
      #expect(one.weaklyEquals(other) == weak && other.weaklyEquals(one) == weak)
    }
  }

  @Test func `an entity tag needs quotation marks`() {
    for (text, isWeak, isWellFormed) in [
      ("\"xyzzy\"", false, true), ("W/\"xyzzy\"", true, true), ("\"\"", false, true),
      ("\"a, b\"", false, false), ("\"a,b\"", false, true), ("\"ä\"", false, true),
      ("xyzzy", false, false), ("W/xyzzy", true, false), ("w/\"a\"", false, false),
      ("\"", false, false), ("W/\"", true, false), ("W/", true, false), ("", false, false),
      ("\"a\"b\"", false, false), ("\"a\u{7F}\"", false, false), ("'a'", false, false),
    ] {
      let tag = EntityTag(bytes(text))
      #expect(tag.isWeak == isWeak, "\(text)")
      #expect(tag.isWellFormed == isWellFormed, "\(text)")
      #expect(tag.isStrong == (isWellFormed && !isWeak), "\(text)")
      #expect(tag.verbatim == bytes(text))
    }
  }

  @Test func `a date is a strong validator after 60 seconds`() {
    func isStrong(_ lines: String...) -> Bool? {
      Validators(of: Exchange(status: 200, fields: Sample.fields(lines), responseTime: Sample.now))
        .lastModified?.isStrong
    }
    let modified = "Last-Modified: \(Sample.date())"
    #expect(isStrong(modified, "Date: \(Sample.date(60))") == true)
    #expect(isStrong(modified, "Date: \(Sample.date(59))") == false)
    #expect(isStrong(modified, "Date: x") == false)
    // The time of receipt cannot replace Date here, because it is from another clock.
    #expect(isStrong("Last-Modified: \(Sample.date(-9_999))") == false)
    #expect(isStrong("Last-Modified: x", "Date: \(Sample.date(60))") == nil)
  }

  @Test func `weak validators are noted`() {
    func kinds(_ lines: String...) -> [FieldFinding.Kind] {
      Validators(of: Exchange(status: 200, fields: Sample.fields(lines), responseTime: Sample.now))
        .fieldFindings.map(\.kind)
    }
    let modified = "Last-Modified: \(Sample.date(-60))"
    let date = "Date: \(Sample.date())"
    #expect(kinds() == [.noValidator])
    #expect(kinds("ETag: ") == [.noValidator])
    #expect(kinds("Last-Modified: x") == [.invalidLastModified, .noValidator])
    #expect(kinds("ETag: \"a\"", modified, date) == [])
    #expect(kinds("ETag: W/\"a\"", modified, date) == [.weakValidator])
    #expect(kinds("ETag: a") == [.malformedEntityTag])
    #expect(kinds(modified, date) == [.rollbackUndetectable])
    #expect(kinds(modified) == [.weakValidator, .rollbackUndetectable])
  }

  @Test func `any difference is a change, newer or older`() {
    func validators(_ lines: String) -> Validators {
      let lines = lines.split(separator: "|").map(String.init)
      return Validators(Sample.fields(lines), date: .absent, now: Sample.now)
    }
    let (old, new) = ("Last-Modified: \(Sample.date(-9))", "Last-Modified: \(Sample.date())")
    for (stored, origin, expected) in [
      ("ETag: \"a\"", "ETag: \"a\"", ValidatorComparison.unchanged(.entityTag)),
      ("ETag: \"a\"", "ETag: W/\"a\"", .unchanged(.entityTag)),
      ("ETag: \"a\"", "ETag: \"b\"", .changed(.entityTag)),
      ("ETag: \"a\"|\(old)", "ETag: \"a\"|\(new)", .unchanged(.entityTag)),
      ("ETag: \"a\"|\(old)", "ETag: \"b\"|\(old)", .changed(.entityTag)),
      ("ETag: \"a\"|\(new)", "ETag: \"b\"|\(old)", .rolledBack(.entityTag)),
      (old, old, .unchanged(.lastModified)), (old, new, .changed(.lastModified)),
      (new, old, .rolledBack(.lastModified)),
      ("ETag: \"a\"|\(old)", new, .changed(.lastModified)),
      ("ETag: \"a\"", old, .unknown), ("", "ETag: \"a\"", .unknown), ("", "", .unknown),
      // The same time in another format.
      (
        "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", "Last-Modified: Sun Nov  6 08:49:37 1994",
        .unchanged(.lastModified)
      ),
    ] {
      let comparison = ValidatorComparison(
        stored: validators(stored), origin: validators(origin))
      #expect(comparison == expected, "\(stored) and \(origin)")
    }
  }
}
