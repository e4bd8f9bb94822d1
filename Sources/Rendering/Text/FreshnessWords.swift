import Administration

extension ResponseFreshness.State {
  /// The state in text for people. Machine formats use the raw value.
  var words: String {
    switch self {
    case .fresh: "fresh"
    case .stale: "stale"
    case .noLifetime: "no lifetime"
    }
  }

  /// The emphasis of the state.
  var emphasis: Emphasis {
    switch self {
    case .fresh: .fresh
    case .stale: .stale
    case .noLifetime: .noLifetime
    }
  }
}

extension ResponseFreshness.State? {
  /// The state in text for people, or `unknown`.
  var words: String { self?.words ?? "unknown" }

  /// The state in formats without `null`.
  var word: String { self?.rawValue ?? "unknown" }
}
