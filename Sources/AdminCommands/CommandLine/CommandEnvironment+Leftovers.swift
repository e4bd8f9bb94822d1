import Administration

extension CommandEnvironment {
  /// Reports the entries that a plan leaves although the user may have meant them.
  ///
  /// - Parameter participle: What happens to entries with unknown properties, such as `not selected`.
  func note(leftBy plan: RemovalPlan, _ participle: String) {
    // What a command leaves must be said: a user who asked for everything older than a month
    // believes otherwise that it is gone.
    let words: KeyValuePairs<KeepReason, String> = [
      .unknownAge: "\(participle), as their age is not known",
      .unknownFreshness: "\(participle), as their freshness is unknown",
      .keptByRule: "left, as rules keep them",
      .pinned: "kept, as they are pinned",
      .orphan: "left, as URLCache does not see them, and only their ids let them go",
      .notARegularFile: "left, as they are no regular files",
    ]
    for (reason, words) in words {
      if let kept = plan.kept[reason] { note("\(words): \(kept.entries)") }
    }
  }
}
