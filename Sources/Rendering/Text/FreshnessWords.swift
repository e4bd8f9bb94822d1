import Administration

extension ResponseFreshness.State {
  /// The state, as all text for people calls it; machine formats have the raw value.
  var words: String {
    switch self {
    case .fresh: "fresh"
    case .stale: "stale"
    case .noLifetime: "no lifetime"
    }
  }
}

extension ResponseFreshness.State? {
  /// The state as text for people calls it, also where it is not known.
  var words: String { self?.words ?? "unknown" }

  /// The state in a format that has no `null`.
  var word: String { self?.rawValue ?? "unknown" }
}
