/// Something in a header section that was ignored, mended, or is not as it seems.
public struct Remark: Hashable, Sendable {
  /// What the remark is about.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A directive for shared caches has no meaning in a private one.
    case forSharedCachesOnly = "for-shared-caches-only"
    /// `Expires` does not count beside `max-age`.
    case overriddenByMaxAge = "overridden-by-max-age"
    /// `max-age` is no number: the response is stale.
    case invalidMaxAge = "invalid-max-age"
    /// `Expires` is no date: the response is stale.
    case invalidExpires = "invalid-expires"
    /// `Date` is no date: the time of receipt stands for it.
    case invalidDate = "invalid-date"
    /// `Last-Modified` is no date, and is ignored.
    case invalidLastModified = "invalid-last-modified"
    /// `Age` is no number, and is ignored.
    case invalidAge = "invalid-age"
    /// The name of the day is not that of the date, which counts all the same.
    case wrongWeekday = "wrong-weekday"
    /// Only the first of several values counts.
    case onlyFirstCounts = "only-first-counts"
    /// A directive that is not known is ignored.
    case unknownDirective = "unknown-directive"
    /// A member of `Cache-Control` has no name, and is ignored.
    case malformedDirective = "malformed-directive"
    /// A quotation mark is never closed: what forbids something counts all the same.
    case unclosedQuote = "unclosed-quote"
    /// `Pragma` means nothing in a response, though some caches obey it.
    case responsePragma = "response-pragma"
    /// `Date` is later than the receipt by ``Remark/seconds``: the clocks differ.
    case originClockAhead = "origin-clock-ahead"
    /// It is ``Remark/seconds`` earlier than the receipt: the clock was set back.
    case clockSetBack = "clock-set-back"
    /// A heuristic gives more than a day.
    case longHeuristic = "long-heuristic"
    /// The entity tag is not between quotation marks; it is sent as it is.
    case malformedEntityTag = "malformed-entity-tag"
    /// The number of a request directive is invalid; the directive is ignored.
    case invalidRequestDirective = "invalid-request-directive"
    /// `Pragma: no-cache` does not count beside `Cache-Control`.
    case overriddenByCacheControl = "overridden-by-cache-control"
    /// The listed header fields must not be used without asking the origin.
    case fieldsToWithhold = "fields-to-withhold"
    /// `must-understand` makes `no-store` void, as the status is known.
    case noStoreVoid = "no-store-void"
    /// A date alone cannot tell that the origin went back to an older state.
    case rollbackUndetectable = "rollback-undetectable"
    /// The validator is weak, so that it cannot vouch for part of a body.
    case weakValidator = "weak-validator"
    /// There is nothing to ask the origin with: the whole body is sent again.
    case noValidator = "no-validator"
  }

  /// What the remark is about.
  public let kind: Kind

  /// The field or, for a directive, the field that it is in; `nil` if it is about none.
  public let field: FieldName?

  /// The value, or the directive, verbatim.
  public let value: [UInt8]

  /// By how many seconds, where a remark is about that.
  public let seconds: Int64?

  /// Creates a remark.
  init(_ kind: Kind, _ field: FieldName?, _ value: [UInt8] = [], seconds: Int64? = nil) {
    self.kind = kind
    self.field = field
    self.value = value
    self.seconds = seconds
  }

  /// The section that decides it.
  public var section: Section {
    guard kind == .forSharedCachesOnly else { return kind.section }
    switch CacheDirective.Name(value.span) {
    case .sharedMaxAge: return .caching("5.2.2.10")
    case .proxyRevalidate: return .caching("5.2.2.8")
    case .private: return .caching("5.2.2.7")
    default: return kind.section
    }
  }
}

extension Remark.Kind {
  /// The section that decides it.
  public var section: Section {
    switch self {
    case .forSharedCachesOnly, .malformedDirective, .unclosedQuote: .caching("5.2")
    case .overriddenByMaxAge, .invalidExpires: .caching("5.3")
    case .invalidMaxAge, .onlyFirstCounts: .caching("4.2.1")
    case .invalidDate: .semantics("6.6.1")
    case .invalidLastModified: .semantics("8.8.2")
    case .invalidAge: .caching("5.1")
    case .wrongWeekday: .semantics("5.6.7")
    case .unknownDirective: .caching("5.2.3")
    case .responsePragma, .overriddenByCacheControl: .caching("5.4")
    case .originClockAhead, .clockSetBack: .caching("4.2.3")
    case .longHeuristic: .caching("4.2.2")
    case .malformedEntityTag: .semantics("8.8.3")
    case .invalidRequestDirective: .caching("5.2.1")
    case .fieldsToWithhold: .caching("5.2.2.4")
    case .noStoreVoid: .caching("5.2.2.3")
    case .rollbackUndetectable: .semantics("13.1.3")
    case .weakValidator: .semantics("13.1.5")
    case .noValidator: .caching("4.3.1")
    }
  }
}
