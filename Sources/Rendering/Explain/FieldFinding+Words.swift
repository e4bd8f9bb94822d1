import HTTPCaching

extension FieldFinding.Kind {
  /// The effect on the value, for people. It follows the field and the value.
  var words: String {
    switch self {
    case .forSharedCachesOnly: "ignored: for shared caches only"
    case .overriddenByMaxAge: "ignored: max-age takes precedence"
    case .invalidMaxAge: "not a number, so stale"
    case .invalidExpires: "not a date, so stale"
    case .invalidDate: "ignored: not a date; using the time it was stored"
    case .invalidLastModified: "ignored: not a date"
    case .invalidAge: "ignored: not a number"
    case .wrongWeekday: "has the wrong day of the week, but is used"
    case .onlyFirstCounts: "ignored: only the first value counts"
    case .unknownDirective: "ignored: unknown directive"
    case .malformedDirective: "ignored: not a directive"
    // Reading it as text only would store and reuse what the server wanted to forbid.
    case .unclosedQuote: "a closing quotation mark is missing; prohibitions inside it still apply"
    // RFC 9111 §5.4 defines `Pragma` for requests only.
    case .responsePragma: "ignored: has no meaning in a response, though some caches obey it"
    case .originClockAhead: "later than when it was stored, so the server's clock was ahead"
    case .clockSetBack: "the current time is before it was stored"
    case .longHeuristic: "the heuristic lifetime is more than a day"
    case .malformedEntityTag: "has no quotation marks; sent unchanged"
    case .invalidRequestDirective: "in the request, ignored: not a number"
    case .overriddenByCacheControl: "in the request, ignored: Cache-Control takes precedence"
    case .fieldsToWithhold: "fields that must not be used without validation"
    // RFC 9111 §5.2.2.3: a cache that understands the status ignores `no-store` next to
    // `must-understand`.
    case .noStoreVoid: "overridden by must-understand, because the status is known"
    case .rollbackUndetectable: "only Last-Modified, which cannot detect a rollback"
    // RFC 9110 §13.1.5 forbids weak validators there.
    case .weakValidator: "weak: usable for If-None-Match and If-Modified-Since, not for If-Range"
    case .noValidator: "only a full download is possible"
    }
  }
}
