public import Bytes
public import HTTPCaching

/// The header fields of a message, in the order in which the store holds them.
///
/// A field that was repeated in the message is repeated here, if the store kept it so.
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

  /// The value of the first field called `name`, whose case does not matter (RFC 9110 §5.1), or
  /// `nil` if there is none.
  ///
  /// - Parameter name: The name, in lower-case ASCII.
  /// - Complexity: O(*n*), where *n* is the number of fields.
  public func firstValue(named name: StaticString) -> ByteString? {
    let name = ByteString(stringLiteral: name)
    return fields.first { $0.name.equalsIgnoringASCIICase(name) }?.value
  }

  /// The values of all fields called `name`, with `, ` between them (RFC 9110 §5.3); `nil` if there is none.
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
