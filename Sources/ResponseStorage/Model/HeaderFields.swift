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
