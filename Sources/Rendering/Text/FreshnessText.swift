import Administration
import HTTPCaching

extension TextBuffer {
  /// Appends the remaining freshness for a table: `fresh 27d`, `stale 11d` or `no lifetime`.
  mutating func append(remainingLifetime seconds: Int64?) {
    guard let seconds else { return append(ResponseFreshness.State.noLifetime.words) }
    append((seconds > 0 ? ResponseFreshness.State.fresh : .stale).words)
    append(" ")
    append(AgeText.text(seconds: abs(seconds)))
  }

  /// Appends the remaining freshness for a sentence: `fresh for 27 days`.
  mutating func append(remainingLifetimeInWords seconds: Int64?) {
    guard let seconds else { return append(ResponseFreshness.State.noLifetime.words) }
    append((seconds > 0 ? ResponseFreshness.State.fresh : .stale).words)
    append(" for \(AgeText.words(seconds: abs(seconds)))")
  }

  /// Appends the basis of the freshness: ` (lifetime 30 days from max-age, age 3 days)`.
  mutating func append(basisOf freshness: ResponseFreshness) {
    append(" (")
    if let lifetime = freshness.lifetimeSeconds {
      append("lifetime \(AgeText.words(seconds: lifetime)) from ")
      append("\(freshness.freshness.lifetime.source.rawValue), ")
    }
    append("age \(AgeText.words(seconds: freshness.freshness.age.seconds)))")
  }
}
