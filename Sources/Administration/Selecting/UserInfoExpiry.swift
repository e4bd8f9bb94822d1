public import Bytes
public import ResponseStorage

/// An expiry set by the app: a date that it attached to a response, and the time for which it uses the response from
/// then on.
///
/// Such an app checks the date when it finds a response, and discards responses that are too old, regardless of header
/// fields. So the expiry can only shorten freshness. The limit is inclusive: after 600 of 600 seconds the response is
/// valid, after 601 it is not.
public struct UserInfoExpiry: Hashable, Sendable {
  /// The time for which an app uses responses with a date under a key.
  public struct Rule: Hashable, Sendable {
    /// The key.
    public var key: ByteString
    /// The number of seconds from that date; not negative.
    public var seconds: Int64

    /// Creates a rule.
    public init(key: ByteString, seconds: Int64) {
      self.key = key
      self.seconds = max(0, seconds)
    }
  }

  /// The built-in rule: a published cache subclass uses this key and ten minutes, and was copied often.
  public static let known = [Rule(key: "CustomURLCacheExpiration", seconds: 600)]

  /// A key under which published examples store the date, without a fixed rule.
  public static let storingDateKey: ByteString = "Cached Date"

  /// Returns the given rules and the built-in ones; a given rule overrides a built-in rule with the same key.
  public static func rules(adding given: [Rule]) -> [Rule] {
    given + known.filter { rule in !given.contains { $0.key == rule.key } }
  }

  /// The rule.
  public let rule: Rule

  /// The date that the app attached.
  public let date: Timestamp

  /// Finds the rule by which a response expires first; `nil` if it has no date for any rule.
  public init?(
    of properties: [StoredResponse.Property], by rules: [Rule]
  ) {
    if properties.isEmpty { return nil }
    var found: UserInfoExpiry?
    for rule in rules {
      guard case .date(let date)? = properties.value(for: rule.key) else { continue }
      let expiry = UserInfoExpiry(rule: rule, date: date)
      // The app may check any of these dates, so the first one that passes ends the use.
      if found.map({ expiry.expiresAt < $0.expiresAt }) ?? true { found = expiry }
    }
    guard let found else { return nil }
    self = found
  }

  private init(rule: Rule, date: Timestamp) {
    self.rule = rule
    self.date = date
  }

  /// The first second in which the response is expired, in seconds since 1970.
  public var expiresAt: Int64 {
    let sum = date.wholeSeconds.addingReportingOverflow(rule.seconds)
    // The limit is inclusive, so the response expires one second later.
    return sum.overflow ? .max : min(sum.partialValue, .max - 1) + 1
  }

  /// Whether the app would still use the response, to the second.
  public func isValid(at now: Timestamp) -> Bool { now.wholeSeconds < expiresAt }
}
