/// A remark about a header section: something was ignored or recovered, or has an unexpected meaning.
public struct FieldFinding: Hashable, Sendable {
  /// The kinds of remarks.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A directive for shared caches, which a private cache ignores.
    case forSharedCachesOnly = "for-shared-caches-only"
    /// `Expires` is ignored because there is a `max-age`.
    case overriddenByMaxAge = "overridden-by-max-age"
    /// `max-age` is not a number, so the response is stale.
    case invalidMaxAge = "invalid-max-age"
    /// `Expires` is not a date, so the response is stale.
    case invalidExpires = "invalid-expires"
    /// `Date` is not a date; the time of receipt is used instead.
    case invalidDate = "invalid-date"
    /// `Last-Modified` is not a date and is ignored.
    case invalidLastModified = "invalid-last-modified"
    /// `Age` is not a number and is ignored.
    case invalidAge = "invalid-age"
    /// The name of the day does not match the date. The date is used.
    case wrongWeekday = "wrong-weekday"
    /// Only the first of several values is used.
    case onlyFirstCounts = "only-first-counts"
    /// An unknown directive, which is ignored.
    case unknownDirective = "unknown-directive"
    /// A member of `Cache-Control` without a name, which is ignored.
    case malformedDirective = "malformed-directive"
    /// A quotation mark is not closed. Directives after it apply if they restrict caching.
    case unclosedQuote = "unclosed-quote"
    /// `Pragma` has no meaning in a response, although some caches obey it.
    case responsePragma = "response-pragma"
    /// `Date` is ``FieldFinding/seconds`` after the time of receipt: the clocks differ.
    case originClockAhead = "origin-clock-ahead"
    /// The current time is ``FieldFinding/seconds`` before the time of receipt: the clock was set back.
    case clockSetBack = "clock-set-back"
    /// The heuristic lifetime is longer than a day.
    case longHeuristic = "long-heuristic"
    /// The entity tag has no quotation marks. It is sent unchanged.
    case malformedEntityTag = "malformed-entity-tag"
    /// A request directive with an invalid number, which is ignored.
    case invalidRequestDirective = "invalid-request-directive"
    /// `Pragma: no-cache` is ignored because there is a `Cache-Control`.
    case overriddenByCacheControl = "overridden-by-cache-control"
    /// The listed header fields must not be used without validation.
    case fieldsToWithhold = "fields-to-withhold"
    /// `no-store` does not apply because of `must-understand` and an understood status code.
    case noStoreVoid = "no-store-void"
    /// A date alone cannot show that the origin went back to an older version.
    case rollbackUndetectable = "rollback-undetectable"
    /// A weak validator does not guarantee equal bytes, so it cannot be used for part of a body.
    case weakValidator = "weak-validator"
    /// There is no validator, so the origin must send the whole body again.
    case noValidator = "no-validator"
  }

  /// The kind of remark.
  public let kind: Kind

  /// The field, or the field that contains the directive; `nil` if the remark is about no field.
  public let field: FieldName?

  /// The value or the directive, verbatim.
  public let value: [UInt8]

  /// The number of seconds, for remarks about a time.
  public let seconds: Int64?

  /// Creates a remark.
  init(_ kind: Kind, _ field: FieldName?, _ value: [UInt8] = [], seconds: Int64? = nil) {
    self.kind = kind
    self.field = field
    self.value = value
    self.seconds = seconds
  }

  /// The section that applies.
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

extension FieldFinding.Kind {
  /// The section that applies.
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

extension FieldFinding {
  /// Remarks about a stored response that are not among the remarks of a result, because neither freshness nor
  /// validators depend on them (RFC 9111 §4.2.1, §5.2).
  public static func all(about exchange: borrowing Exchange) -> [FieldFinding] {
    let fields = exchange.fields
    var fieldFindings = about(exchange.directives.control)
    // RFC 9111 §5.4 defines `Pragma` for requests only. Chromium, WebKit and OkHttp obey it in
    // responses, so a user may expect it to count.
    if fields.hasPragmaNoCache {
      fieldFindings.append(
        FieldFinding(.responsePragma, .pragma, fields.firstValue(of: .pragma) ?? []))
    }
    if case .fields? = exchange.directives.isPrivate {
      fieldFindings.append(FieldFinding(.forSharedCachesOnly, .cacheControl, Array("private".utf8)))
    }
    if case .fields(let names)? = exchange.directives.noCache {
      let list = Array(names.map(\.lowercased).joined(separator: Array(", ".utf8)))
      fieldFindings.append(FieldFinding(.fieldsToWithhold, .cacheControl, list))
    }
    // These fields have a single value, so a sender must not write a second line (RFC 9110 §5.3).
    for name in [KnownFieldName.date, .expires, .lastModified, .age, .entityTag] {
      if let second = fields.value(of: FieldName(name), at: 1) {
        fieldFindings.append(FieldFinding(.onlyFirstCounts, FieldName(name), second))
      }
    }
    let found = exchange.freshnessFields
    for (name, date) in [
      (FieldName.date, found.date), (.expires, found.expires), (.lastModified, found.lastModified),
    ] {
      if let finding = aboutWeekday(of: date, name, in: fields) { fieldFindings.append(finding) }
    }
    if let value = fields.firstValue(of: .age), value.contains(UInt8(ascii: ",")) {
      fieldFindings.append(FieldFinding(.onlyFirstCounts, .age, value))
    }
    return fieldFindings
  }

  private static func aboutWeekday(
    of date: DateField, _ name: FieldName, in fields: FieldSection
  ) -> FieldFinding? {
    guard let seconds = date.secondsSince1970, let value = fields.firstValue(of: name),
      HTTPDate.namesWrongDay(value, for: seconds)
    else { return nil }
    return FieldFinding(.wrongWeekday, name, value)
  }

  /// Remarks about ignored parts of a request (RFC 9111 §5.2.1).
  public static func all(about request: Request) -> [FieldFinding] {
    all(about: request, request.directives)
  }

  static func all(about request: Request, _ directives: RequestDirectives) -> [FieldFinding] {
    // Without `Cache-Control`, nothing in it can be ignored, and `Pragma` applies.
    guard directives.control.isPresent else { return [] }
    var fieldFindings = about(directives.control)
    for name in [CacheDirective.Name.maxAge, .minFresh, .maxStale, .staleIfError] {
      guard case .invalid? = directives.control.seconds(name) else { continue }
      if name == .maxStale, directives.maxStale == .any { continue }
      fieldFindings.append(
        FieldFinding(.invalidRequestDirective, .cacheControl, Array(name.rawValue.utf8)))
    }
    if request.fields.hasPragmaNoCache {
      fieldFindings.append(FieldFinding(.overriddenByCacheControl, .pragma))
    }
    return fieldFindings
  }

  /// Remarks about ignored or recovered parts of `Cache-Control`.
  private static func about(_ control: CacheControl) -> [FieldFinding] {
    let contradictory = control.contradictory.map {
      FieldFinding(.onlyFirstCounts, .cacheControl, Array($0.name.rawValue.utf8))
    }
    if control.isRegular { return contradictory }
    return contradictory
      + control.unknown.map { FieldFinding(.unknownDirective, .cacheControl, $0) }
      + control.malformed.map { FieldFinding(.malformedDirective, .cacheControl, $0) }
      + control.unclosed.map { FieldFinding(.unclosedQuote, .cacheControl, $0) }
  }
}
