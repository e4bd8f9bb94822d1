public import ResponseStorage
import Secrets

/// A rule of an audit: what it looks for, why that matters, and how to fix it.
public struct AuditRule: Sendable {
  /// The subject of a rule, the first part of its id.
  public enum Subject: String, Hashable, Sendable, CaseIterable {
    /// Credentials that are stored in clear.
    case secret
    /// Data that others can read or receive.
    case privacy
    /// What makes a cache useless or wrong.
    case caching
  }

  /// The id, such as `secret/jwt`. It never changes, because baselines and configurations name it.
  public let id: String

  /// How serious its findings are.
  public let severity: Finding.Severity

  /// What was found: a phrase.
  public let summary: String

  /// Why that matters: a sentence.
  public let reason: String

  /// How to fix it: a sentence.
  public let fix: String

  /// Creates a rule.
  init(
    _ id: String, _ severity: Finding.Severity, _ summary: String, _ reason: String, fix: String
  ) {
    (self.id, self.severity, self.summary) = (id, severity, summary)
    (self.reason, self.fix) = (reason, fix)
  }

  /// Creates a rule about a kind of secret.
  init(
    _ rule: SecretRule, _ severity: Finding.Severity, _ summary: String, _ reason: String,
    fix: String
  ) {
    self.init(rule.rawValue, severity, summary, reason, fix: fix)
  }

  /// The subject.
  public var subject: Subject {
    Subject.allCases.first { id.utf8.starts(with: $0.rawValue.utf8) } ?? .caching
  }

  /// All rules, in the order of their ids.
  public static let all = (secrets + privacy + caching).sorted { $0.id < $1.id }

  /// Returns the rule with an id; `nil` if there is none.
  public static func named(_ id: String) -> AuditRule? { byID[id] }

  /// Creates the rule that is about a kind of secret.
  init(_ rule: SecretRule) { self = Self.byID[rule.rawValue] ?? .apiKey }

  private static let byID = Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0) })
}

// Rules are equal if their ids are; comparing their texts would be a waste.
extension AuditRule: Hashable {
  public static func == (one: Self, other: Self) -> Bool { one.id == other.id }

  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension Finding.Severity {
  /// The rank, 0 for the most severe.
  public var rank: Int {
    switch self {
    case .error: 0
    case .warning: 1
    case .note: 2
    }
  }
}
