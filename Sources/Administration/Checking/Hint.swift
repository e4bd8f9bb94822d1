public import Bytes
import HTTPCaching
import ResponseStorage

/// A fact about a stored response that its reader may not expect.
public enum Hint: Hashable, Sendable {
  /// The response is on disk although its `Cache-Control` contains `no-store`.
  case noStoreOnDisk
  /// The response or its request contains data for a single user.
  case privateData
  /// The app allowed storing in memory only, or not at all.
  case notForDisk
  /// Its body is missing.
  case bodyMissing
  /// The body is incomplete; either the rest can be requested, or only the whole body again.
  case partialBody(isResumable: Bool)
  /// The clock of the origin server was ahead.
  case originClockAhead(seconds: Int64)
  /// This clock is behind the time at which the response was stored.
  case clockSetBack(seconds: Int64)
  /// The response was already stale when it was stored, because of its `Date` or `Age`.
  case staleWhenStored(age: Int64)
  /// The body is larger than 5% of the capacity; CFNetwork does not store such bodies.
  case largeBody(limit: ByteCount)
  /// The app stores a date under a `userInfo` key, and no expiry rule for it was given.
  case storingDate
  /// The lifetime is heuristic, and Apple's heuristic is undocumented.
  case guessedLifetime
  /// The heuristic lifetime is longer than a day.
  case longGuess(seconds: Int64)
  /// Apple systems reportedly keep validating after the first 304.
  case expiryNotExtended
  /// It is undocumented that Apple systems use stale responses while they validate them.
  case staleUseUndocumented
  /// It is undocumented whether Apple systems use a stored response with `no-store`.
  case noStoreUndocumented
  /// The key has neither scheme nor query, so the store also returns the entry for other URLs.
  case keyWithoutQuery
  /// The store returns the entry for the requested URL, but it was stored for another URL.
  case answersOtherURL
  /// This platform ignores request policies.
  case policyIgnored
  /// This platform never validates, although the response has a validator.
  case neverValidated
  /// This platform uses a response without a lifetime forever.
  case usedForEver
  /// This platform removes an entry that it refuses to use.
  case removedWhenRefused
  /// WebKit uses a redirect for a limited time, whatever its lifetime.
  case ageCap(seconds: Double)
  /// The response came through iCloud Private Relay.
  case privatelyRelayed
  /// WebKit never validates a redirect.
  case redirectNeverValidated
  /// *Back* uses the response however old it is.
  case usedByBack
  /// WebKit keeps one response of a URL, whatever `Vary` says.
  case oneVariant
  /// `Vary` names a field that WebKit does not see.
  case varyUnseen
  /// Other caches of WebKit can answer first.
  case memoryCacheFirst

  /// The code of the hint in machine-readable output.
  public var code: String {
    switch self {
    case .noStoreOnDisk: "no-store-on-disk"
    case .privateData: "private-data"
    case .notForDisk: "not-for-disk"
    case .bodyMissing: "body-missing"
    case .partialBody: "partial-body"
    case .originClockAhead: "origin-clock-ahead"
    case .clockSetBack: "clock-set-back"
    case .staleWhenStored: "stale-when-stored"
    case .largeBody: "large-body"
    case .storingDate: "storing-date"
    case .guessedLifetime: "guessed-lifetime"
    case .longGuess: "long-guess"
    case .expiryNotExtended: "apple-expiry-not-extended"
    case .staleUseUndocumented: "apple-stale-use-undocumented"
    case .noStoreUndocumented: "apple-no-store-undocumented"
    case .keyWithoutQuery: "foundation-key-without-query"
    case .answersOtherURL: "foundation-answers-other-url"
    case .policyIgnored: "foundation-policy-ignored"
    case .neverValidated: "foundation-never-validates"
    case .usedForEver: "foundation-used-for-ever"
    case .removedWhenRefused: "foundation-removed-when-refused"
    case .ageCap: "webkit-age-cap"
    case .privatelyRelayed: "webkit-private-relay"
    case .redirectNeverValidated: "webkit-redirect-never-validated"
    case .usedByBack: "webkit-used-by-back"
    case .oneVariant: "webkit-one-variant"
    case .varyUnseen: "webkit-vary-unseen"
    case .memoryCacheFirst: "webkit-memory-cache-first"
    }
  }

  /// Whether the hint is a finding, not just background.
  public var isFinding: Bool {
    switch self {
    case .noStoreOnDisk, .privateData, .notForDisk, .bodyMissing, .partialBody, .originClockAhead,
      .clockSetBack, .staleWhenStored, .largeBody, .keyWithoutQuery, .answersOtherURL, .usedForEver:
      true
    default: false
    }
  }
}

extension Hint {
  /// Returns all hints about a response, findings first.
  static func all(
    about response: borrowing StoredResponse, _ details: Explanation.Details?,
    _ lookup: StoreLookup?, asking inquiry: Inquiry
  ) -> [Hint] {
    var hints: [Hint] = []
    // After a redirect, the other URL is expected, and only its target is another one.
    if let lookup, lookup.isAnswer, !lookup.isRedirected { hints.append(.answersOtherURL) }
    if response.bodyLocation == .missing { hints.append(.bodyMissing) }
    switch response.storagePolicy {
    case .allowedInMemoryOnly, .notAllowed: hints.append(.notForDisk)
    default: break
    }
    let rules = inquiry.platform.rules
    if let limit = inquiry.capacityBytes.flatMap({ rules.largestBody(of: $0) }),
      response.bodySize ?? 0 > limit
    {
      hints.append(.largeBody(limit: limit))
    }
    guard let details else { return hints }
    if BodyCompleteness(of: details.exchange, response) == .partial {
      hints.append(.partialBody(isResumable: details.conditional.purpose == .completion))
    }
    hints += findings(details, rules)
    // Published examples of cache subclasses store the date under this key, and compare it with a
    // limit that is only in the source of the app. Without that limit, the freshness shown is not
    // what the app goes by.
    if !response.userInfo.isEmpty,
      case .date? = response.userInfo.value(for: UserInfoExpiry.storingDateKey),
      details.expiry?.rule.key != UserInfoExpiry.storingDateKey
    {
      hints.append(.storingDate)
    }
    return hints + rules.hints(about: details, response, isFound: lookup?.isAnswer ?? true)
  }

  private static func findings(
    _ details: Explanation.Details, _ rules: any PlatformRules
  ) -> [Hint] {
    var hints: [Hint] = []
    let fields = details.exchange.fields
    // RFC 9111 never forces a cache to store anything, so such an entry should not exist. It is a
    // finding about privacy, not about freshness.
    if details.storability.reason == .responseNoStore { hints.append(.noStoreOnDisk) }
    // A private cache may store these responses: RFC 9111 §3.5 and §5.2.2.7 restrict shared caches
    // only. But the files are not encrypted, so cookies and tokens are on disk in clear text.
    let sent = details.exchange.request?.fields
    if details.exchange.directives.isPrivate != nil || fields.contains(.setCookie)
      || sent?.contains(.authorization) == true || sent?.contains(.cookie) == true
    {
      hints.append(.privateData)
    }
    let freshness = details.reuse.freshness
    let fieldFindings = freshness.fieldFindings(about: details.exchange)
    for remark in fieldFindings {
      switch remark.kind {
      case .originClockAhead: hints.append(.originClockAhead(seconds: remark.seconds ?? 0))
      case .clockSetBack: hints.append(.clockSetBack(seconds: remark.seconds ?? 0))
      default: break
      }
    }
    let lifetime = freshness.lifetime.seconds
    // Caches on the way can use up the whole lifetime, which shows in `Age` or in an old `Date`.
    // The entry was then never fresh on this machine, which looks like a fault of this machine.
    if lifetime > 0, freshness.age.correctedInitialAge >= lifetime {
      hints.append(.staleWhenStored(age: freshness.age.correctedInitialAge))
    }
    if let guess = fieldFindings.first(where: { $0.kind == .longHeuristic }), rules.hasHeuristic {
      hints.append(.longGuess(seconds: guess.seconds ?? 0))
    }
    return hints
  }
}
