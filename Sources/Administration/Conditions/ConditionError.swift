/// What is wrong with an expression, and where.
public struct ConditionError: Error, Hashable, Sendable {
  /// What is wrong: a clause without a subject, with words of the expression as they are.
  public let reason: String
  /// Where in the expression, in bytes of UTF-8 from its beginning; empty at its end.
  public let range: Range<Int>
  /// What to write instead, or `nil`.
  public let hint: String?

  init(_ reason: String, at range: Range<Int>, hint: String? = nil) {
    (self.reason, self.range, self.hint) = (reason, range, hint)
  }
}
