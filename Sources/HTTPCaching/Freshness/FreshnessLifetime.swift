/// The freshness lifetime of a response, counted from its generation by the origin (RFC 9111 §4.2.1).
///
/// The rules are those of a private cache, which `URLCache` is: `s-maxage` is ignored.
public struct FreshnessLifetime: Hashable, Sendable {
  /// The source of a lifetime.
  public enum Source: String, Hashable, Sendable, CaseIterable {
    /// `Cache-Control: max-age` (RFC 9111 §5.2.2.1).
    case maxAge = "max-age"
    /// `Expires` minus `Date` (RFC 9111 §5.3).
    case expires
    /// A tenth of the time from `Last-Modified` to `Date` (RFC 9111 §4.2.2).
    case heuristic
    /// None: the response has no lifetime.
    case none
    /// A `max-age` that is not a number: the response is never fresh (RFC 9111 §4.2.1).
    case invalidMaxAge = "invalid-max-age"
    /// An `Expires` that is not a date: the response has already expired (RFC 9111 §5.3).
    case invalidExpires = "invalid-expires"
  }

  /// The values from which the lifetime was calculated.
  public enum Basis: Hashable, Sendable {
    /// The number of `max-age`.
    case maxAge(Int64)
    /// A `max-age` that is not a number, verbatim.
    case invalidMaxAge([UInt8])
    /// `Expires` and the date from which it is counted, in seconds since 1970.
    case expires(Int64, from: Int64)
    /// An `Expires` that is not a date, verbatim.
    case invalidExpires([UInt8])
    /// `Last-Modified` and the date with which it is compared, in seconds since 1970.
    case heuristic(lastModified: Int64, date: Int64)
    /// Nothing, with the reason.
    case none(NoLifetime)
  }

  /// Why a response has no lifetime, not even a heuristic one (RFC 9111 §4.2.2).
  public enum NoLifetime: String, Hashable, Sendable, CaseIterable {
    /// The status code is not heuristically cacheable, and the response is not `public`.
    case status
    /// There is no `Last-Modified` to base a heuristic on.
    case noLastModified = "no-last-modified"
    /// `Last-Modified` is not a date.
    case invalidLastModified = "invalid-last-modified"
  }

  /// The values from which the lifetime was calculated.
  public let basis: Basis

  /// Calculates the lifetime of a response by the first rule that applies (RFC 9111 §4.2.1).
  public init(of exchange: borrowing Exchange) {
    self.init(of: exchange.freshnessFields, status: exchange.status)
  }

  /// Calculates the lifetime of a response by the first rule that applies (RFC 9111 §4.2.1).
  init(of fields: borrowing FreshnessFields, status: Int64?) {
    basis =
      switch (fields.maxAge, fields.expires) {
      case (.seconds(let seconds), _): .maxAge(seconds)
      // No fallback to `Expires`: RFC 9111 §4.2.1 encourages treating an invalid lifetime as stale.
      case (.invalid(let text), _): .invalidMaxAge(text)
      // With a `Date`, both times are from the clock of the origin, so an error of our clock does
      // not matter.
      case (nil, .date(let date)): .expires(date, from: fields.dateValue)
      // An invalid `Expires` means already expired, so no heuristic applies (RFC 9111 §5.3).
      case (nil, .invalid(let text)): .invalidExpires(text)
      case (nil, .absent): Self.heuristic(for: fields, status: status)
      }
  }

  /// The lifetime in seconds, never negative; 0 if there is none (RFC 9111 §4.2.1).
  public var seconds: Int64 {
    switch basis {
    case .maxAge(let seconds): seconds
    case .expires(let expires, let date): max(0, expires.saturatingSubtracting(date))
    case .heuristic(let lastModified, let date):
      // The fraction that RFC 9111 §4.2.2 suggests. There is no cap; a long lifetime gets a remark.
      max(0, date.saturatingSubtracting(lastModified)) / 10
    case .invalidMaxAge, .invalidExpires, .none: 0
    }
  }

  /// The source of the lifetime.
  public var source: Source {
    switch basis {
    case .maxAge: .maxAge
    case .invalidMaxAge: .invalidMaxAge
    case .expires: .expires
    case .invalidExpires: .invalidExpires
    case .heuristic: .heuristic
    case .none: .none
    }
  }

  /// The section of the rule that gave the lifetime.
  public var section: Section {
    switch basis {
    case .maxAge: .caching("5.2.2.1")
    case .invalidMaxAge: .caching("4.2.1")
    case .expires, .invalidExpires: .caching("5.3")
    case .heuristic, .none: .caching("4.2.2")
    }
  }
}

extension FreshnessLifetime {
  /// A heuristic may be used if the response has no explicit lifetime (RFC 9111 §4.2.2).
  private static func heuristic(
    for fields: borrowing FreshnessFields, status: Int64?
  ) -> Basis {
    // RFC 9111 §4.2.2 permits a heuristic for some statuses only, or with `public`. An unknown
    // status is none of these.
    let hasStatus = status.map(StatusCode.isHeuristicallyCacheable) ?? false
    guard hasStatus || fields.isPublic else { return .none(.status) }
    return switch fields.lastModified {
    case .absent: .none(.noLastModified)
    case .invalid: .none(.invalidLastModified)
    case .date(let lastModified): .heuristic(lastModified: lastModified, date: fields.dateValue)
    }
  }

  /// Remarks about ignored fields, and the reasons.
  public func fieldFindings(about exchange: borrowing Exchange) -> [FieldFinding] {
    let fields = exchange.freshnessFields
    var fieldFindings = exchange.directives.forSharedCachesOnly.map {
      FieldFinding(.forSharedCachesOnly, .cacheControl, Array($0.name.rawValue.utf8))
    }
    switch basis {
    case .invalidMaxAge(let text):
      fieldFindings.append(FieldFinding(.invalidMaxAge, .cacheControl, text))
    case .invalidExpires(let text):
      fieldFindings.append(FieldFinding(.invalidExpires, .expires, text))
    case .none(.invalidLastModified):
      if case .invalid(let text) = fields.lastModified {
        fieldFindings.append(FieldFinding(.invalidLastModified, .lastModified, text))
      }
    // Some other caches cap a heuristic lifetime at one day.
    // HTTP::Response caps it at 24 hours and hishel at 7 days; RFC 9111 has no cap.
    case .heuristic where seconds > 86_400:
      fieldFindings.append(FieldFinding(.longHeuristic, .lastModified, seconds: seconds))
    default: break
    }
    if fields.maxAge != nil, let value = exchange.fields.firstValue(of: .expires) {
      fieldFindings.append(FieldFinding(.overriddenByMaxAge, .expires, value))
    }
    return fieldFindings
  }
}
