import Administration
import Bytes
import HTTPCaching

extension VaryMatch {
  /// The match as a word for programs.
  var word: String {
    switch self {
    case .nothingNominated: "nothing"
    case .matches: "matches"
    case .never: "never"
    case .differs: "differs"
    case .unknown: "unknown"
    }
  }

  /// The fields that were compared.
  var names: [FieldName] {
    switch self {
    case .nothingNominated, .never: []
    case .matches(let names), .unknown(let names): names
    case .differs(let differences): differences.map(\.name)
    }
  }
}

extension StaleUse.Window {
  /// The state of the window as a word for programs.
  var word: String {
    switch self {
    case .ahead: "ahead"
    case .open: "open"
    case .closed: "closed"
    case .void: "void"
    case .invalid: "invalid"
    }
  }

  /// The length of a window that is ahead, the rest of an open one, or the time since a closed one closed.
  var seconds: Int64? {
    switch self {
    case .ahead(let seconds), .open(let seconds), .closed(let seconds): seconds
    case .void, .invalid: nil
    }
  }
}

extension CacheDirective.Name {
  /// Whether the argument is a number of seconds.
  var takesSeconds: Bool {
    switch self {
    case .maxAge, .maxStale, .minFresh, .sharedMaxAge, .staleIfError, .staleWhileRevalidate: true
    default: false
    }
  }
}

extension FieldSection {
  /// The joined lines of a field as output may show them; `nil` if there are none.
  func shownValue(of name: FieldName, _ secrets: SecretPolicy) -> [UInt8]? {
    let lines = values(of: name)
    if lines.isEmpty { return nil }
    // Lines of a field with one name mean the same as one line with commas (RFC 9110 §5.3).
    let value = lines.count == 1 ? lines[0] : Array(lines.joined(separator: Array(", ".utf8)))
    if secrets.showSecrets { return value }
    return Mask.headerValue(ByteString(value), named: ByteString(name.lowercased)).bytes
  }
}

extension RequestCachePolicy {
  /// The name of the policy; of two names, the newer one.
  var name: String { Self.names.first { $0.policy == self }?.name ?? "" }
}

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

extension TextBuffer {
  /// Appends the reason for an outcome, for people.
  mutating func append(
    _ reason: Explanation.Reason, of explanation: Explanation, _ secrets: SecretPolicy
  ) {
    switch reason {
    case .undecodable: append("its header fields or the time it was stored cannot be read")
    case .expiredByApplication(let expiry):
      append("it expired by the app's own rule: ")
      append(shown: expiry.rule.key)
      append(" + \(expiry.rule.seconds) s")
    case .policy(let policy): append("the request policy \(policy.name) ignores its age")
    // "Observed", because no documentation says so, and another version may behave differently.
    case .foundationUses(nil):
      append(
        "Foundation on Linux was observed to use it forever: it has neither max-age nor Expires")
    case .foundationUses:
      append("Foundation on Linux was observed to use it until its max-age has passed")
    case .foundationRefuses(let refusal):
      append("Foundation on Linux was observed not to use it: \(refusal.words)")
    case .webKit(let rule): append("in WebKit, \(rule.words)")
    case .reuse(let reason):
      guard let details = explanation.details else { return }
      append(reason, of: details, secrets)
    }
  }

  private mutating func append(
    _ reason: ReuseReason, of details: Explanation.Details, _ secrets: SecretPolicy
  ) {
    switch reason {
    case .otherTarget: append("it was stored for a different URL")
    case .otherMethod: append("stored responses cannot answer its method")
    case .responseNoStore: append("no-store forbids using it for another request")
    case .statusNotUnderstood:
      append("must-understand forbids storing a response with an unknown status")
    case .varyNever: append("Vary: * matches no request")
    case .varyDiffers(let differences):
      append("Vary: ")
      for (index, difference) in differences.enumerated() {
        if index > 0 { append("; ") }
        append(difference.name, stored: difference.stored, presented: difference.presented, secrets)
      }
    case .varyUnknown(let names):
      append("Vary: ")
      append(names)
      append(", but the request's fields are not stored")
    case .incomplete(.start(let bytes)):
      append("only the first \(bytes) bytes of its body are stored")
    case .incomplete: append("only part of its body is stored")
    case .responseNoCache:
      append(comparison: details.reuse.freshness)
      // Without the freshness, a user would look for a lifetime that is too short, and lengthening
      // it would not help.
      append(details.reuse.freshness.isFresh ? ", but " : ", and ")
      append("no-cache requires validation every time")
    case .requestNoCache: append("the request has Cache-Control: no-cache")
    case .requestPragma: append("the request has Pragma: no-cache")
    case .tooOld(let age, let limit):
      append("its age is \(age) s, but the request accepts at most \(limit) s")
    // With both numbers, since which of them is wrong is what a developer has to find out.
    case .notFreshEnough(let remaining, let limit):
      append("it stays fresh for \(remaining) s, but the request requires \(limit) s")
    case .staleMustRevalidate:
      append(comparison: details.reuse.freshness)
      append(", and must-revalidate forbids using it")
    case .tooStale(let seconds, let limit):
      append("it has been stale for \(seconds) s, but the request allows only \(limit) s")
    case .stale, .fresh: append(comparison: details.reuse.freshness)
    case .noLifetime(let reason):
      append("it has no lifetime: no max-age, no Expires, and \(reason.words)")
    case .maxStalePermits(let seconds):
      append("it has been stale for \(seconds) s, which the request's max-stale allows")
    case .revalidatesMeanwhile:
      append(comparison: details.reuse.freshness)
      append(", but stale-while-revalidate allows using it meanwhile")
    }
  }

  /// Appends how the age of a response compares to its lifetime.
  private mutating func append(comparison freshness: Freshness) {
    switch freshness.lifetime.basis {
    case .invalidMaxAge(let text):
      append("max-age is not a number: ")
      append(quoted: text)
    case .invalidExpires(let text):
      append("Expires is not a date: ")
      append(quoted: text)
    case .none: append("it has no lifetime")
    case .maxAge, .expires, .heuristic:
      append("its age (\(freshness.age.seconds) s) is ")
      append(freshness.isFresh ? "below" : "not below")
      append(" its lifetime (\(freshness.lifetime.seconds) s)")
    }
  }

  /// Appends the stored and the presented value of a field that `Vary` names.
  mutating func append(
    _ name: FieldName, stored: [UInt8]?, presented: [UInt8]?, _ secrets: SecretPolicy
  ) {
    append([name])
    for (title, value) in [(" stored ", stored), (", presented ", presented)] {
      append(title)
      guard let value else {
        append("none")
        continue
      }
      let name = ByteString(name.lowercased)
      let shown =
        secrets.showSecrets ? value : Mask.headerValue(ByteString(value), named: name).bytes
      append(quoted: shown)
    }
  }

  /// Appends field names with each word capitalized.
  mutating func append(_ names: [FieldName]) {
    for (index, name) in names.enumerated() {
      if index > 0 { append(", ") }
      var isFirst = true
      append(
        shown: name.lowercased.map { byte in
          defer { isFirst = byte == UInt8(ascii: "-") }
          // Names are compared in lowercase, but people know them as `Cache-Control`.
          let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
          return isFirst && isLetter ? byte & ~0x20 : byte
        })
    }
  }

  /// Appends text from a cache in quotation marks.
  mutating func append(quoted text: [UInt8]) {
    append(UInt8(ascii: "\""))
    append(shown: text)
    append(UInt8(ascii: "\""))
  }
}

extension FreshnessLifetime.NoLifetime {
  /// The reason, for people.
  fileprivate var words: String {
    switch self {
    case .status: "its status does not allow a heuristic lifetime"
    case .noLastModified: "no Last-Modified for a heuristic lifetime"
    case .invalidLastModified: "a Last-Modified that is not a date"
    }
  }
}

extension WebKitReuse.Rule {
  /// The rule, for people, as a clause.
  var words: String {
    switch self {
    case .fresh: "its age is not above its lifetime"
    case .anyAge: "this policy uses an entry of any age"
    case .maxStale: "the request's max-stale allows its age"
    case .whileRevalidating: "stale-while-revalidate allows using it meanwhile"
    case .ownConditions: "the request already contains conditions"
    case .requestNoCache: "the request has no-cache"
    case .requestMaxAge: "the request has max-age=0"
    case .responseNoCache: "it has no-cache, in Cache-Control or Pragma"
    case .stale: "its age is above its lifetime"
    case .method: "only GET is answered from the cache"
    case .reload: "this policy does not look into the cache"
    case .varyNever: "Vary: * matches no request"
    case .varyDiffers: "a field that Vary names differs"
    case .noValidator: "it must be validated, but has neither ETag nor Last-Modified"
    case .redirect: "it must be validated, but redirects never are"
    case .ageCap: "tracking prevention limits the age of this redirect"
    case .futureDated: "the time it was stored is in the future"
    case .noBody: "its body is missing"
    }
  }
}

extension WebKitReuse.LifetimeSource {
  /// The source, for people.
  var words: String {
    switch self {
    case .maxAge: "Cache-Control: max-age"
    case .expires: "Expires - Date"
    case .permanent: "a year, as its status is 301 or 410"
    case .heuristic: "10% of the time from Last-Modified to Date"
    case .none: "no max-age, no Expires, no Last-Modified"
    }
  }
}

extension WebKitRefusal {
  /// The reason, for people, as a clause.
  var words: String {
    switch self {
    case .method: "only responses to GET are stored"
    case .requestNoStore: "the request has no-store"
    case .responseNoStore: "the response has no-store"
    case .status: "responses of its status are not stored"
    case .statusWithoutLifetime:
      "responses of its status are stored only with max-age or a valid Expires"
    case .unlikelyReused:
      "only a page ('--navigation new') is stored without a lifetime, ETag or Last-Modified"
    case .largeBody: "a body larger than an eighth of the capacity is not stored"
    }
  }
}

extension FoundationReuse.Refusal {
  /// The reason, for people.
  var words: String {
    switch self {
    case .otherKey: "its key belongs to a different URL"
    case .challenge: "it has WWW-Authenticate or Proxy-Authenticate"
    case .authorization: "the request has Authorization or Proxy-Authorization"
    case .method: "the request is neither GET nor HEAD"
    case .bodyForHead: "the request is HEAD but the response has a body"
    case .noCache: "it has no-cache"
    case .noStore: "it has no-store"
    case .maxAge: "its max-age has passed"
    case .status: "Foundation does not use responses with this status"
    case .vary: "it has Vary"
    case .expires: "it has no max-age, and its Expires is not a date"
    }
  }
}

/// Returns a number of seconds, rounded down, with its largest unit in parentheses: `3600 s (60 minutes)`.
func spanText(_ seconds: Double) -> String {
  Int64(exactly: seconds.rounded(.down)).map { spanText($0) } ?? "\(seconds) s"
}

/// Returns a number of seconds, with its largest unit in parentheses: `3600 s (60 minutes)`.
func spanText(_ seconds: Int64) -> String {
  // The exact number is what the header fields say, so that the two can be compared.
  seconds < 120 ? "\(seconds) s" : "\(seconds) s (\(AgeText.words(seconds: seconds)))"
}
