public import Bytes
public import ResponseStorage

/// An expiry of an application's own: a date that it attached to a response, and how long it lets the
/// response live from then on.
///
/// Such an application looks at the date when it finds a response, and drops what is too old, whatever the
/// header fields say. So it ends what is fresh, and makes nothing fresh. Equal is still valid: at 600
/// seconds of 600 the response lives, at 601 it is gone.
public struct UserInfoExpiry: Hashable, Sendable {
  /// How long responses live that have a date under a key.
  public struct Rule: Hashable, Sendable {
    /// The key.
    public var key: ByteString
    /// For how many seconds from the date on; not less than zero.
    public var seconds: Int64

    /// Creates a rule.
    public init(key: ByteString, seconds: Int64) {
      self.key = key
      self.seconds = max(0, seconds)
    }
  }

  /// The rule that is known without being asked for: a cache subclass that was published with this key and
  /// ten minutes, and copied since.
  public static let known = [Rule(key: "CustomURLCacheExpiration", seconds: 600)]

  /// A key under which published examples keep the date of storing, and no rule with it.
  public static let storingDateKey: ByteString = "Cached Date"

  /// The known rules, and those that a user gives, which go before a known one with the same key.
  public static func rules(adding given: [Rule]) -> [Rule] {
    given + known.filter { rule in !given.contains { $0.key == rule.key } }
  }

  /// The rule.
  public let rule: Rule

  /// The date that the application attached.
  public let date: Timestamp

  /// Finds the rule by which a response expires first; `nil` if there is no date for any.
  public init?(
    of properties: [StoredResponse.Property], by rules: [Rule]
  ) {
    if properties.isEmpty { return nil }
    var found: UserInfoExpiry?
    for rule in rules {
      guard case .date(let date)? = properties.value(for: rule.key) else { continue }
      let expiry = UserInfoExpiry(rule: rule, date: date)
      if found.map({ expiry.expiresAt < $0.expiresAt }) ?? true { found = expiry }
    }
    guard let found else { return nil }
    self = found
  }

  private init(rule: Rule, date: Timestamp) {
    self.rule = rule
    self.date = date
  }

  /// The first second at which the response has expired, in seconds since 1970.
  public var expiresAt: Int64 {
    let sum = date.wholeSeconds.addingReportingOverflow(rule.seconds)
    return sum.overflow ? .max : min(sum.partialValue, .max - 1) + 1
  }

  /// Whether the application would still use the response, to the second.
  public func isValid(at now: Timestamp) -> Bool { now.wholeSeconds < expiresAt }
}
