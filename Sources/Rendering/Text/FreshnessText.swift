import Administration
import HTTPCaching

extension TextBuffer {
  /// Appends the remaining freshness for people: `fresh 27 d`, `stale 11 d` or `no lifetime`.
  mutating func append(remainingLifetime seconds: Int64?) {
    guard let seconds else { return append(ResponseFreshness.State.noLifetime.words) }
    append((seconds > 0 ? ResponseFreshness.State.fresh : .stale).words)
    append(" ")
    append(AgeText.text(seconds: abs(seconds)))
  }

  /// Appends the basis of the freshness: ` (lifetime 30 d by max-age, age 3 d)`.
  mutating func append(basisOf freshness: ResponseFreshness) {
    append(" (")
    if let lifetime = freshness.lifetimeSeconds {
      append("lifetime \(AgeText.text(seconds: lifetime)) by ")
      append("\(freshness.freshness.lifetime.source.rawValue), ")
    }
    append("age \(AgeText.text(seconds: freshness.freshness.age.seconds)))")
  }
}
