import Bytes
import Secrets

/// Secrets that were found, each once, up to a limit: a hostile cache can have any number.
struct FoundSecrets {
  /// What makes two secrets the same.
  struct Key: Hashable {
    /// The secret.
    let value: ByteString
    /// The rule; `nil` if it does not matter.
    var rule: SecretRule?
    /// The place; `nil` if it does not matter.
    var place: AuditPlace?
  }

  /// The findings, in the order in which they were found.
  private(set) var findings: [AuditFinding] = []

  private var indices: [Key: Int] = [:]
  private let most: Int

  /// Creates an empty collection of at most this many secrets.
  init(most: Int) { self.most = most }

  /// Counts a secret that was found before once more.
  ///
  /// - Returns: `false` if it was not found before.
  mutating func recount(_ key: Key) -> Bool {
    guard let index = indices[key] else { return false }
    findings[index].count += 1
    return true
  }

  /// Adds a secret that was not found before, unless there are too many.
  ///
  /// - Returns: Whether it was added.
  @discardableResult
  mutating func insert(_ finding: @autoclosure () -> AuditFinding, as key: Key) -> Bool {
    guard findings.count < most else { return false }
    indices[key] = findings.count
    findings.append(finding())
    return true
  }
}
