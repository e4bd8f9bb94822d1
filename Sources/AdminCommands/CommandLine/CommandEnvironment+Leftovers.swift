import Administration

extension CommandEnvironment {
  /// Reports the entries that a plan leaves although the user may have meant them.
  ///
  /// - Parameter participle: What happens to entries with unknown properties, such as `not selected`.
  func note(leftBy plan: RemovalPlan, _ participle: String) {
    // What a command leaves must be said: a user who asked for everything older than a month
    // believes otherwise that it is gone.
    let words: KeyValuePairs<KeepReason, String> = [
      .unknownAge: "entries \(participle) because their age is unknown",
      .unknownFreshness: "entries \(participle) because their freshness is unknown",
      .keptByRule: "entries kept by rules",
      .pinned: "entries kept by pins",
      .notARegularFile: "entries kept because they are not regular files",
    ]
    for (reason, words) in words {
      if let kept = plan.kept[reason] { note("\(words): \(kept.entries)") }
    }
  }
}
