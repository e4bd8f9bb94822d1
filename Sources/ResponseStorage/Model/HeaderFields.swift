public import Bytes
public import HTTPCaching

/// The header fields of a message, in the order of the store.
///
/// A repeated field is repeated here, if the store keeps it so.
public struct HeaderFields: Hashable, Sendable {
  /// One header field.
  public struct Field: Hashable, Sendable {
    /// The field's name, in the case in which it was stored.
    public var name: ByteString

    /// The field's value.
    public var value: ByteString

    /// Creates a field.
    public init(name: ByteString, value: ByteString) {
      self.name = name
      self.value = value
    }
  }

  /// The fields.
  public var fields: [Field]

  /// Creates a list of fields.
  public init(_ fields: [Field] = []) {
    self.fields = fields
  }

  /// Returns the value of the first field with this name, in any case (RFC 9110 §5.1), or `nil` if there
  /// is none.
  ///
  /// - Parameter name: The name, in lower-case ASCII.
  /// - Complexity: O(*n*), where *n* is the number of fields.
  public func firstValue(named name: StaticString) -> ByteString? {
    let name = ByteString(stringLiteral: name)
    return fields.first { $0.name.equalsIgnoringASCIICase(name) }?.value
  }

  /// Returns the values of all fields with this name, joined by `, ` (RFC 9110 §5.3); `nil` if there are none.
  ///
  /// - Parameter name: The name, in lower-case ASCII.
  public func joinedValue(named name: StaticString) -> ByteString? {
    let name = ByteString(stringLiteral: name)
    let values = fields.filter { $0.name.equalsIgnoringASCIICase(name) }.map(\.value.bytes)
    return values.isEmpty ? nil : ByteString(Array(values.joined(separator: ", ".utf8)))
  }
}

extension FieldSection {
  /// The header section of a stored message.
  public init(_ headers: HeaderFields) {
    self.init(headers.fields.map { FieldLine(name: $0.name.bytes, value: $0.value.bytes) })
  }
}

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
