/// How long a response is fresh, counted from when the origin generated it (RFC 9111 §4.2.1).
///
/// The rules are those for a private cache, which is what `URLCache` is: `s-maxage` plays no part.
public struct FreshnessLifetime: Hashable, Sendable {
  /// Where a lifetime comes from.
  public enum Source: String, Hashable, Sendable, CaseIterable {
    /// `Cache-Control: max-age` (RFC 9111 §5.2.2.1).
    case maxAge = "max-age"
    /// `Expires`, less `Date` (RFC 9111 §5.3).
    case expires
    /// A tenth of the time from `Last-Modified` to `Date` (RFC 9111 §4.2.2).
    case heuristic
    /// Nowhere: there is no lifetime.
    case none
    /// A `max-age` that is no number, so that there is no time in which it is fresh
    /// (RFC 9111 §4.2.1).
    case invalidMaxAge = "invalid-max-age"
    /// An `Expires` that is no date, so that it has already expired (RFC 9111 §5.3).
    case invalidExpires = "invalid-expires"
  }

  /// What the lifetime was calculated from.
  public enum Basis: Hashable, Sendable {
    /// The number of `max-age`.
    case maxAge(Int64)
    /// `max-age`, verbatim, that is no number.
    case invalidMaxAge([UInt8])
    /// `Expires` and the date that it counts from, in seconds since 1970.
    case expires(Int64, from: Int64)
    /// `Expires`, verbatim, that is no date.
    case invalidExpires([UInt8])
    /// `Last-Modified` and the date that it is compared with, in seconds since 1970.
    case heuristic(lastModified: Int64, date: Int64)
    /// Nothing, for a reason.
    case none(NoLifetime)
  }

  /// Why there is no lifetime, not even by a heuristic (RFC 9111 §4.2.2).
  public enum NoLifetime: String, Hashable, Sendable, CaseIterable {
    /// Responses of this status have no heuristic lifetime, and it is not `public`.
    case status
    /// There is no `Last-Modified` to guess from.
    case noLastModified = "no-last-modified"
    /// `Last-Modified` is no date.
    case invalidLastModified = "invalid-last-modified"
  }

  /// What the lifetime was calculated from.
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
      case (.invalid(let text), _): .invalidMaxAge(text)
      case (nil, .date(let date)): .expires(date, from: fields.dateValue)
      case (nil, .invalid(let text)): .invalidExpires(text)
      case (nil, .absent): Self.heuristic(for: fields, status: status)
      }
  }

  /// The lifetime in seconds, never less than zero; 0 if there is none (RFC 9111 §4.2.1).
  public var seconds: Int64 {
    switch basis {
    case .maxAge(let seconds): seconds
    case .expires(let expires, let date): max(0, expires.saturatingSubtracting(date))
    case .heuristic(let lastModified, let date):
      max(0, date.saturatingSubtracting(lastModified)) / 10
    case .invalidMaxAge, .invalidExpires, .none: 0
    }
  }

  /// Where the lifetime comes from.
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
  /// A heuristic may be used where nothing explicit is said (RFC 9111 §4.2.2).
  private static func heuristic(
    for fields: borrowing FreshnessFields, status: Int64?
  ) -> Basis {
    let hasStatus = status.map(StatusCode.isHeuristicallyCacheable) ?? false
    guard hasStatus || fields.isPublic else { return .none(.status) }
    return switch fields.lastModified {
    case .absent: .none(.noLastModified)
    case .invalid: .none(.invalidLastModified)
    case .date(let lastModified): .heuristic(lastModified: lastModified, date: fields.dateValue)
    }
  }

  /// What of the response was ignored, and why.
  public func remarks(about exchange: borrowing Exchange) -> [Remark] {
    let fields = exchange.freshnessFields
    var remarks = exchange.directives.forSharedCachesOnly.map {
      Remark(.forSharedCachesOnly, .cacheControl, Array($0.name.rawValue.utf8))
    }
    switch basis {
    case .invalidMaxAge(let text): remarks.append(Remark(.invalidMaxAge, .cacheControl, text))
    case .invalidExpires(let text): remarks.append(Remark(.invalidExpires, .expires, text))
    case .none(.invalidLastModified):
      if case .invalid(let text) = fields.lastModified {
        remarks.append(Remark(.invalidLastModified, .lastModified, text))
      }
    case .heuristic where seconds > 86_400:
      remarks.append(Remark(.longHeuristic, .lastModified, seconds: seconds))
    default: break
    }
    if fields.maxAge != nil, let value = exchange.fields.firstValue(of: .expires) {
      remarks.append(Remark(.overriddenByMaxAge, .expires, value))
    }
    return remarks
  }
}
