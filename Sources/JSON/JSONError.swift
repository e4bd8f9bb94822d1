/// What is wrong with a JSON document.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was found, or missed, as a few words.
  public var fact: String

  /// Where, in bytes from the beginning.
  public var offset: Int

  /// Creates an error.
  public init(_ fact: String, at offset: Int) {
    self.fact = fact
    self.offset = offset
  }

  public var description: String { "\(fact) at byte \(offset)" }
}
