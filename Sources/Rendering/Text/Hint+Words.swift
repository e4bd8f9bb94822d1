import Administration

extension Hint {
  /// The hint for people. It contains no text from the cache.
  var words: String {
    switch self {
    case .noStoreOnDisk: "it says no-store, and lies on disk all the same"
    case .privateData:
      "it is private, or has to do with a cookie or credentials, and lies on disk in clear"
    case .notForDisk: "the app did not allow it on disk"
    case .bodyMissing: "its body is missing, so that no app can use it"
    case .partialBody(isResumable: true):
      "only a part of its body is stored; 'revalidate --refresh --resume' loads the rest"
    case .partialBody(isResumable: false):
      "only a part of its body is stored, and 'revalidate --refresh' loads all of it again"
    case .originClockAhead(let seconds):
      "the origin's clock was \(spanText(seconds)) ahead when it answered"
    case .clockSetBack(let seconds):
      "it was stored \(spanText(seconds)) in the future: a clock was set back"
    case .staleWhenStored(let age):
      "it was stale when it was stored: its Date or Age made it \(spanText(age)) old"
    case .largeBody(let limit):
      "its body has more than 5 % of the capacity (\(limit) bytes), which CFNetwork does not store"
    case .storingDate:
      "the app keeps the date of storing under 'Cached Date'; give its rule with --user-info-expiry"
    case .guessedLifetime:
      "nothing says how long it is fresh: a tenth of its age is a guess, and Apple's is not documented"
    case .longGuess(let seconds): "the guess is more than a day: \(spanText(seconds))"
    // "Reported", because it comes from developers and not from Apple.
    case .expiryNotExtended:
      "Apple's systems were reported not to extend the lifetime after a 304, and to ask every time"
    case .staleUseUndocumented:
      "whether Apple's systems honour stale-while-revalidate is not documented"
    case .keyWithoutQuery:
      "observed: Foundation's key has neither scheme nor query, so that it answers other URLs with this"
    case .answersOtherURL:
      "it was stored for another URL with the same key, and may be meant for another user"
    case .policyIgnored: "observed: Foundation on Linux ignores the cache policy of a request"
    case .neverValidated:
      "observed: Foundation on Linux never validates, whatever the validators are"
    case .usedForEver:
      "observed: without max-age and Expires, Foundation on Linux uses it for ever"
    case .removedWhenRefused:
      "observed: what Foundation on Linux does not use it removes when it is asked for"
    }
  }
}
