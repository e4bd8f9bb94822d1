public import Bytes
import HTTPCaching
import ResponseStorage

/// Something about a stored response that its reader may not expect.
public enum Hint: Hashable, Sendable {
  /// It says `no-store`, and lies on disk.
  case noStoreOnDisk
  /// It, or its request, holds what is meant for one person.
  case privateData
  /// The application allowed it in memory only, or not at all.
  case notForDisk
  /// Its body is missing.
  case bodyMissing
  /// Only a part of its body is stored, and the rest of it can be asked for, or only all of it again.
  case partialBody(isResumable: Bool)
  /// The origin's clock was ahead by so many seconds.
  case originClockAhead(seconds: Int64)
  /// This clock is so many seconds behind the time of storing.
  case clockSetBack(seconds: Int64)
  /// It was stale when it was stored: its `Date` or `Age` made it so old.
  case staleWhenStored(age: Int64)
  /// Its body has more than 5 % of the capacity, which CFNetwork does not store.
  case largeBody(limit: ByteCount)
  /// The application keeps a date under a key, and no rule for it was given.
  case storingDate
  /// Its lifetime is a guess, and Apple's is not documented.
  case guessedLifetime
  /// A heuristic gives more than a day.
  case longGuess(seconds: Int64)
  /// Apple's systems were reported to keep validating after the first 304.
  case expiryNotExtended
  /// That Apple's systems use what is stale while they validate it is not documented.
  case staleUseUndocumented
  /// The store's key has neither scheme nor query: other URLs are answered with it.
  case keyWithoutQuery
  /// The store answers the URL that is asked for with it, and it was stored for another.
  case answersOtherURL
  /// No policy matters on this platform.
  case policyIgnored
  /// What can be validated is not, on this platform.
  case neverValidated
  /// Without a lifetime it is used for ever, on this platform.
  case usedForEver
  /// Being refused removes it, on this platform.
  case removedWhenRefused

  /// The hint, for programs.
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
    case .keyWithoutQuery: "foundation-key-without-query"
    case .answersOtherURL: "foundation-answers-other-url"
    case .policyIgnored: "foundation-policy-ignored"
    case .neverValidated: "foundation-never-validates"
    case .usedForEver: "foundation-used-for-ever"
    case .removedWhenRefused: "foundation-removed-when-refused"
    }
  }

  /// Whether it is a finding, and not only good to know.
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
  /// All hints about a response, the findings first.
  static func all(
    about response: borrowing StoredResponse, _ details: Explanation.Details?,
    _ lookup: StoreLookup?, asking inquiry: Inquiry
  ) -> [Hint] {
    var hints: [Hint] = []
    if let lookup, lookup.isAnswer, !lookup.isRedirected { hints.append(.answersOtherURL) }
    if response.bodyLocation == .missing { hints.append(.bodyMissing) }
    switch response.storagePolicy {
    case .allowedInMemoryOnly, .notAllowed: hints.append(.notForDisk)
    default: break
    }
    if inquiry.platform != .foundation, let capacity = inquiry.capacityBytes,
      response.bodySize ?? 0 > capacity / 20
    {
      hints.append(.largeBody(limit: capacity / 20))
    }
    guard let details else { return hints }
    if BodyCompleteness(of: details.exchange, response) == .partial {
      hints.append(.partialBody(isResumable: details.conditional.purpose == .completion))
    }
    hints += findings(details, asking: inquiry)
    if !response.userInfo.isEmpty,
      case .date? = response.userInfo.value(for: UserInfoExpiry.storingDateKey),
      details.expiry?.rule.key != UserInfoExpiry.storingDateKey
    {
      hints.append(.storingDate)
    }
    switch inquiry.platform {
    case .rfc9111: break
    case .apple: hints += ofApple(details)
    case .foundation:
      hints += ofFoundation(details, response.url, isFound: lookup?.isAnswer ?? true)
    }
    return hints
  }

  private static func findings(
    _ details: Explanation.Details, asking inquiry: Inquiry
  ) -> [Hint] {
    var hints: [Hint] = []
    let fields = details.exchange.fields
    if details.storability.reason == .responseNoStore { hints.append(.noStoreOnDisk) }
    let sent = details.exchange.request?.fields
    if details.exchange.directives.isPrivate != nil || fields.contains(.setCookie)
      || sent?.contains(.authorization) == true || sent?.contains(.cookie) == true
    {
      hints.append(.privateData)
    }
    let freshness = details.reuse.freshness
    let remarks = freshness.remarks(about: details.exchange)
    for remark in remarks {
      switch remark.kind {
      case .originClockAhead: hints.append(.originClockAhead(seconds: remark.seconds ?? 0))
      case .clockSetBack: hints.append(.clockSetBack(seconds: remark.seconds ?? 0))
      default: break
      }
    }
    let lifetime = freshness.lifetime.seconds
    if lifetime > 0, freshness.age.correctedInitialAge >= lifetime {
      hints.append(.staleWhenStored(age: freshness.age.correctedInitialAge))
    }
    if let guess = remarks.first(where: { $0.kind == .longHeuristic }),
      inquiry.platform != .foundation
    {
      hints.append(.longGuess(seconds: guess.seconds ?? 0))
    }
    return hints
  }

  private static func ofApple(_ details: Explanation.Details) -> [Hint] {
    var hints: [Hint] = []
    if details.reuse.freshness.lifetime.source == .heuristic { hints.append(.guessedLifetime) }
    if details.reuse.decision == .useWhileRevalidating { hints.append(.staleUseUndocumented) }
    if details.conditional.purpose == .validation, !details.reuse.freshness.isFresh {
      hints.append(.expiryNotExtended)
    }
    return hints
  }

  private static func ofFoundation(
    _ details: Explanation.Details, _ url: ByteString?, isFound: Bool
  ) -> [Hint] {
    var hints: [Hint] = []
    if url?.bytes.contains(UInt8(ascii: "?")) ?? false { hints.append(.keyWithoutQuery) }
    if let foundation = details.foundation, isFound {
      if foundation.obstacle != nil {
        hints.append(.removedWhenRefused)
      } else if foundation.usedUntil == nil {
        hints.append(.usedForEver)
      }
    }
    if !details.validators.isEmpty { hints.append(.neverValidated) }
    hints.append(.policyIgnored)
    return hints
  }
}
