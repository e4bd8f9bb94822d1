import Administration
import HTTPCaching

/// What policies lead to, as JSON that is written once for all responses with the same outcomes.
///
/// It is a third of what is written of a response, and there are few that differ.
public struct PolicyTexts: Sendable {
  private var texts: [Text] = []

  private struct Text: Sendable {
    /// Three bits for each policy.
    let outcomes: UInt32
    let json: [UInt8]
  }

  /// Creates a memory without texts.
  public init() {}

  /// Appends an object for each name of a policy, as the members of an array.
  mutating func append(_ explanation: Explanation, into buffer: inout TextBuffer) {
    var outcomes: UInt32 = 0
    for policy in RequestCachePolicy.allCases {
      outcomes = outcomes << 3 | explanation.outcome(of: policy).bits
    }
    if let text = texts.first(where: { $0.outcomes == outcomes }) {
      return buffer.append(contentsOf: text.json)
    }
    let json = Self.json(of: explanation)
    buffer.append(contentsOf: json)
    texts.append(Text(outcomes: outcomes, json: json))
  }

  private static func json(of explanation: Explanation) -> [UInt8] {
    var text = TextBuffer()
    for (index, (name, policy)) in RequestCachePolicy.names.enumerated() {
      text.append(index == 0 ? "{\"name\":\"\(name)\"" : ",{\"name\":\"\(name)\"")
      text.append(",\"number\":\(policy.rawValue)")
      text.append(",\"outcome\":\"\(explanation.outcome(of: policy).rawValue)\"}")
    }
    return text.bytes
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
