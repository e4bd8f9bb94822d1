public import Bytes

extension StoredResponse {
  /// A key and value of a dictionary that was stored with a response.
  public struct Property: Hashable, Sendable {
    /// The key.
    public var key: ByteString

    /// The value.
    public var value: PropertyValue

    /// Creates a property.
    public init(key: ByteString, value: PropertyValue) {
      self.key = key
      self.value = value
    }
  }

  /// A value that was stored with a response, for display and comparison.
  ///
  /// A date is a `Timestamp`, and text has the operations of ``ByteString``. Values that are written back unchanged
  /// stay a `PropertyListValue`, which is exact.
  public indirect enum PropertyValue: Hashable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    case date(Timestamp)
    case data([UInt8])
    case text(ByteString)
    case array([PropertyValue])
    case dictionary([Property])

    /// A value of a class that is not decoded, with the name or number of the class.
    case opaque(String)
  }
}
