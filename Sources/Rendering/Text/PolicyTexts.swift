import Administration
import HTTPCaching
import JSON

/// Caches the JSON of policy outcomes for all responses with the same outcomes.
///
/// This JSON is a third of the output for a response, and there are few different ones.
public struct PolicyTexts: Sendable {
  private var texts: [Text] = []

  private struct Text: Sendable {
    /// Three bits for each policy.
    let outcomes: UInt32
    let json: [UInt8]
  }

  /// Creates an empty cache.
  public init() {}

  /// Writes an object for each policy name, as the elements of an array.
  mutating func write(_ explanation: Explanation, to json: inout JSONWriter) {
    var outcomes: UInt32 = 0
    for policy in RequestCachePolicy.allCases {
      outcomes = outcomes << 3 | explanation.outcome(of: policy).bits
    }
    if let text = texts.first(where: { $0.outcomes == outcomes }) {
      return json.written(text.json)
    }
    let text = Text(outcomes: outcomes, json: Self.json(of: explanation))
    json.written(text.json)
    texts.append(text)
  }

  private static func json(of explanation: Explanation) -> [UInt8] {
    JSONWriter.bytes(.hostileText) { json in
      for (name, policy) in RequestCachePolicy.names {
        json.object {
          $0.member("name", name)
          $0.member("number", policy.rawValue)
          $0.member("outcome", explanation.outcome(of: policy).rawValue)
        }
      }
    }
  }
}

extension RequestCachePolicy.Outcome {
  /// The outcome as a number of three bits.
  fileprivate var bits: UInt32 {
    switch self {
    case .cache: 0
    case .conditional: 1
    case .load: 2
    case .error: 3
    case .unknown: 4
    }
  }
}

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
