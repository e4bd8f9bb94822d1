public import Bytes

/// The different names of header fields, numbered from 0 in the order in which they were added. Names that differ only
/// in the case of ASCII letters are equal (RFC 9110 §5.1).
public struct FieldNames: Sendable {
  // A few names are compared in less time than it takes to hash one. A hostile message has a hundred thousand.
  private var first: [ByteString] = []
  private var others: [ByteString: Int] = [:]

  /// The number of names that are compared.
  private static let few = 16

  /// Creates an empty list.
  public init() {}

  /// Returns the number of a name, or `nil` if it was not added.
  ///
  /// - Complexity: O(1) on average.
  public func number(of name: ByteString) -> Int? {
    first.firstIndex { $0.equalsIgnoringASCIICase(name) }
      ?? (others.isEmpty ? nil : others[name.asciiLowercased])
  }

  /// Adds a name, unless there is one equal to it.
  ///
  /// - Returns: Its number, and whether it is new.
  /// - Complexity: O(1) on average.
  public mutating func insert(_ name: ByteString) -> (number: Int, isNew: Bool) {
    if let number = number(of: name) { return (number, false) }
    let number = first.count + others.count
    if first.count < Self.few {
      first.append(name)
    } else {
      others[name.asciiLowercased] = number
    }
    return (number, true)
  }
}
