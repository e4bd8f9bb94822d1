import Administration

extension Hint {
  /// The hint for people. It contains no text from the cache.
  var words: String {
    switch self {
    case .noStoreOnDisk: "it has no-store but is stored on disk"
    case .privateData:
      "it is private, or was requested with a cookie or credentials, and is stored unencrypted on disk"
    case .notForDisk: "the app did not allow storing it on disk"
    case .bodyMissing: "its body is missing, so no app can use it"
    case .partialBody(isResumable: true):
      "only part of its body is stored; 'revalidate --refresh --resume' downloads the rest"
    case .partialBody(isResumable: false):
      "only part of its body is stored; 'revalidate --refresh' downloads it again in full"
    case .originClockAhead(let seconds):
      "the server's clock was \(spanText(seconds)) ahead"
    case .clockSetBack(let seconds):
      "it was stored \(spanText(seconds)) in the future, so a clock was set back"
    case .staleWhenStored(let age):
      "it was already stale when stored: by its Date or Age it was \(spanText(age)) old"
    case .largeBody(let limit):
      "its body is larger than 5% of the capacity (\(limit) bytes); CFNetwork does not store such bodies"
    case .storingDate:
      "the app saves the time it was stored as 'Cached Date'; give its expiry rule with --user-info-expiry"
    case .guessedLifetime:
      "it has no explicit lifetime; a tenth of its age is only a heuristic, and Apple does not document which one it uses"
    case .longGuess(let seconds): "the heuristic lifetime is more than a day: \(spanText(seconds))"
    // "Reported", because it comes from developers and not from Apple.
    case .expiryNotExtended:
      "Apple's systems reportedly do not extend the lifetime after a 304 and revalidate every time"
    case .staleUseUndocumented:
      "Apple does not document whether its systems honor stale-while-revalidate"
    case .noStoreUndocumented:
      "reported: Apple's systems store no response with no-store, though older versions of iOS did; what they do with a stored one is not documented"
    case .keyWithoutQuery:
      "observed: Foundation's key has neither scheme nor query, so it uses this entry for other URLs too"
    case .answersOtherURL:
      "it was stored for a different URL with the same key and may be meant for another user"
    case .policyIgnored: "observed: Foundation on Linux ignores the request policy"
    case .neverValidated:
      "observed: Foundation on Linux never validates, even with validators"
    case .usedForEver:
      "observed: without max-age and Expires, Foundation on Linux uses it forever"
    case .removedWhenRefused:
      "observed: Foundation on Linux removes an entry that it finds but does not use"
    case .ageCap(let seconds):
      "tracking prevention limits the use of this redirect to \(spanText(seconds))"
    case .privatelyRelayed: "it came through iCloud Private Relay"
    case .redirectNeverValidated:
      "WebKit never validates a redirect, and does not use it for a URL with a fragment"
    case .usedByBack: "'Back' and 'Forward' use it however old it is: '--navigation back'"
    case .oneVariant: "WebKit keeps one response per URL, regardless of Vary"
    case .varyUnseen:
      "WebKit does not see Accept-Encoding, and on Linux not Accept-Language, so they always match"
    case .memoryCacheFirst:
      "the memory cache of a page may answer first, and a URL that a server redirects to is always requested"
    }
  }
}
