import HTTPCaching
import Testing

@Suite struct FreshnessLifetimeTests {
  private let day: Int64 = 86_400

  /// Returns the lifetime of a response, as `SOURCE SECONDS`.
  private func lifetime(_ lines: String..., status: Int64? = 200) -> String {
    let exchange = Exchange(
      status: status, fields: Sample.fields(lines), responseTime: Sample.now)
    let lifetime = FreshnessLifetime(of: exchange)
    return "\(lifetime.source.rawValue) \(lifetime.seconds)"
  }

  @Test func `the first rule that applies gives the lifetime`() {
    let date = "Date: \(Sample.date(-5))"
    let expires = "Expires: \(Sample.date(100))"
    let modified = "Last-Modified: \(Sample.date(-1_005))"
    let maxAge = "Cache-Control: max-age=60"
    #expect(lifetime(maxAge, expires, modified, date) == "max-age 60")
    #expect(lifetime("Cache-Control: s-maxage=9", expires, modified, date) == "expires 105")
    #expect(lifetime(expires, modified) == "expires 100")
    #expect(lifetime(modified, date) == "heuristic 100")
    #expect(lifetime(modified) == "heuristic 100")
    #expect(lifetime(modified, "Date: \(Sample.date(-505))") == "heuristic 50")
    #expect(lifetime(date) == "none 0")
    #expect(lifetime() == "none 0")
  }

  @Test func `an invalid lifetime is stale, without a fallback`() {
    let expires = "Expires: \(Sample.date(100))"
    let modified = "Last-Modified: \(Sample.date(-1_000))"
    #expect(lifetime("Cache-Control: max-age=1.5", expires, modified) == "invalid-max-age 0")
    for value in ["0", "-1", "", "Thu, 01 Jan 2099 00:00:00 UTC", "never"] {
      #expect(lifetime("Expires: \(value)", modified) == "invalid-expires 0", "\(value)")
      #expect(lifetime("Expires: \(value)", "Cache-Control: max-age=5") == "max-age 5")
    }
    #expect(lifetime("Last-Modified: yesterday") == "none 0")
    #expect(lifetime("Date: yesterday", expires) == "expires 100")
    #expect(lifetime("Expires: \(Sample.date(-1))") == "expires 0")
    #expect(lifetime("Last-Modified: \(Sample.date(1))") == "heuristic 0")
  }

  @Test func `a heuristic needs a status or public`() {
    let modified = "Last-Modified: \(Sample.date(-1_000))"
    let cacheable: Set<Int64> = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]
    for status in 100...599 as ClosedRange<Int64> {
      let expected = cacheable.contains(status) ? "heuristic 100" : "none 0"
      #expect(lifetime(modified, status: status) == expected, "\(status)")
      #expect(lifetime(modified, "Cache-Control: public", status: status) == "heuristic 100")
      #expect(lifetime("Cache-Control: max-age=5", status: status) == "max-age 5")
    }
    #expect(lifetime(modified, status: nil) == "none 0")
  }

  @Test func `other directives do not change the number`() {
    for directive in ["no-cache", "must-revalidate", "immutable", "private", "public", "no-store"] {
      #expect(lifetime("Cache-Control: max-age=60, \(directive)") == "max-age 60")
    }
  }

  @Test func `the basis contains the inputs of the calculation`() {
    func basis(_ lines: String...) -> FreshnessLifetime.Basis {
      FreshnessLifetime(
        of: Exchange(status: 200, fields: Sample.fields(lines), responseTime: Sample.now)
      ).basis
    }
    let now = Sample.now
    #expect(basis("Cache-Control: max-age=60") == .maxAge(60))
    #expect(basis("Cache-Control: max-age=x") == .invalidMaxAge(bytes("x")))
    #expect(
      basis("Expires: \(Sample.date(9))", "Date: \(Sample.date(1))")
        == .expires(now + 9, from: now + 1))
    #expect(basis("Expires: 0") == .invalidExpires(bytes("0")))
    #expect(
      basis("Last-Modified: \(Sample.date(-9))") == .heuristic(lastModified: now - 9, date: now))
    #expect(basis("Last-Modified: x") == .none(.invalidLastModified))
    #expect(basis("ETag: x") == .none(.noLastModified))
  }

  @Test func `ignored fields are noted with their RFC section`() {
    let exchange = Sample.response(
      "Cache-Control: max-age=3600, s-maxage=600, proxy-revalidate", "Expires: 0")
    let lifetime = FreshnessLifetime(of: exchange)
    #expect(
      lifetime.fieldFindings(about: exchange).map {
        "\($0.kind.rawValue): \(text($0.value)), \($0.section)"
      } == [
        "for-shared-caches-only: s-maxage, RFC 9111 §5.2.2.10",
        "for-shared-caches-only: proxy-revalidate, RFC 9111 §5.2.2.8",
        "overridden-by-max-age: 0, RFC 9111 §5.3",
      ])
    #expect(lifetime.section.description == "RFC 9111 §5.2.2.1")
    let old = Sample.response("Last-Modified: \(Sample.date(-20 * day))")
    let long = FreshnessLifetime(of: old)
    #expect(long.seconds == 2 * day)
    #expect(long.fieldFindings(about: old).map(\.kind) == [.longHeuristic])
    #expect(long.fieldFindings(about: old).map(\.seconds) == [2 * day])
  }
}
