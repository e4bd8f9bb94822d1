/// The text of a string to look for in property lists, made once and compared with many.
public struct PropertyListKey: Hashable, Sendable, ExpressibleByStringLiteral {
  let ascii: [UInt8]

  /// Creates a key.
  ///
  /// - Parameter text: The key, in ASCII.
  public init(_ text: String) {
    ascii = Array(text.utf8)
  }

  public init(stringLiteral value: String) {
    self.init(value)
  }
}
