/// An error in a JSON document.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was found or what is missing, in a few words.
  public var fact: String

  /// The byte offset of the error from the beginning of the document.
  public var offset: Int

  /// Creates an error.
  public init(_ fact: String, at offset: Int) {
    self.fact = fact
    self.offset = offset
  }

  public var description: String { "\(fact) at byte \(offset)" }
}
