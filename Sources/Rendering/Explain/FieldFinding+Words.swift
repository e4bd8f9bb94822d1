import HTTPCaching

extension FieldFinding.Kind {
  /// The effect on the value, for people. It follows the field and the value.
  var words: String {
    switch self {
    case .forSharedCachesOnly: "ignored: for shared caches only"
    case .overriddenByMaxAge: "ignored: max-age counts"
    case .invalidMaxAge: "no number: stale"
    case .invalidExpires: "no date: stale"
    case .invalidDate: "ignored: no date; the time of storing stands for it"
    case .invalidLastModified: "ignored: no date"
    case .invalidAge: "ignored: no number"
    case .wrongWeekday: "names another day of the week, and counts all the same"
    case .onlyFirstCounts: "ignored: only the first value counts"
    case .unknownDirective: "ignored: not a known directive"
    case .malformedDirective: "ignored: not a directive"
    // Reading it as text only would store and reuse what the server wanted to forbid.
    case .unclosedQuote: "a quotation mark is not closed; what forbids something in it counts"
    // RFC 9111 §5.4 defines `Pragma` for requests only.
    case .responsePragma: "ignored: means nothing in a response, though some caches obey it"
    case .originClockAhead: "later than the time of storing: the origin's clock was ahead"
    case .clockSetBack: "this clock is behind the time of storing"
    case .longHeuristic: "the guess is more than a day"
    case .malformedEntityTag: "without quotation marks; sent as it is"
    case .invalidRequestDirective: "of the request, ignored: no number"
    case .overriddenByCacheControl: "of the request, ignored: Cache-Control counts"
    case .fieldsToWithhold: "fields that must not be used without validation"
    // RFC 9111 §5.2.2.3: a cache that understands the status ignores `no-store` next to
    // `must-understand`.
    case .noStoreVoid: "void: must-understand, and the status is known"
    case .rollbackUndetectable: "Last-Modified only: cannot detect a rollback"
    // RFC 9110 §13.1.5 forbids weak validators there.
    case .weakValidator: "weak: for If-None-Match and If-Modified-Since, not for If-Range"
    case .noValidator: "nothing to ask with: a full download"
    }
  }
}
