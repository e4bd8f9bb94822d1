/// An error in an expression, with its position.
public struct ConditionError: Error, Hashable, Sendable {
  /// The error: a clause without a subject, quoting the expression unchanged.
  public let reason: String
  /// The range in the expression, in UTF-8 bytes; empty at the end.
  public let range: Range<Int>
  /// What to write instead, or `nil`.
  public let hint: String?

  init(_ reason: String, at range: Range<Int>, hint: String? = nil) {
    (self.reason, self.range, self.hint) = (reason, range, hint)
  }
}
