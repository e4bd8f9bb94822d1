import Administration
import HTTPCaching

extension TextBuffer {
  /// Appends for how many more seconds a response is fresh, for people: `fresh 27 d`, `stale 11 d` or
  /// `no lifetime`.
  mutating func append(remainingLifetime seconds: Int64?) {
    guard let seconds else { return append(ResponseFreshness.State.noLifetime.words) }
    append((seconds > 0 ? ResponseFreshness.State.fresh : .stale).words)
    append(" ")
    append(AgeText.text(seconds: abs(seconds)))
  }

  /// Appends what that was calculated from: ` (lifetime 30 d by max-age, age 3 d)`.
  mutating func append(basisOf freshness: ResponseFreshness) {
    append(" (")
    if let lifetime = freshness.lifetimeSeconds {
      append("lifetime \(AgeText.text(seconds: lifetime)) by ")
      append("\(freshness.freshness.lifetime.source.rawValue), ")
    }
    append("age \(AgeText.text(seconds: freshness.freshness.age.seconds)))")
  }
}
