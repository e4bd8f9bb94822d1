public import Bytes
import PropertyLists

extension [StoredResponse.Property] {
  /// Returns the value for `key`, or `nil` if there is none.
  ///
  /// - Complexity: O(*n*), where *n* is the number of properties.
  public func value(for key: ByteString) -> StoredResponse.PropertyValue? {
    first { $0.key == key }?.value
  }
}

extension StoredResponse.Property {
  /// Returns the properties of a property list or keyed archive; any value but a dictionary has an empty key.
  static func list(from value: PropertyListValue) -> [Self] {
    let value = StoredResponse.PropertyValue(value)
    if case .dictionary(let properties) = value { return properties }
    return [Self(key: "", value: value)]
  }
}

extension StoredResponse.PropertyValue {
  /// Creates a value from one of a property list or keyed archive.
  fileprivate init(_ value: PropertyListValue) {
    self =
      switch value {
      case .null: .null
      case .boolean(let value): .boolean(value)
      case .integer(let value): .integer(value)
      case .real(let value): .real(value)
      case .date(let seconds):
        // A property list can have a date of NaN or of any size, for which no calendar has a day.
        Timestamp(secondsSince2001: seconds).map { .date($0) } ?? .opaque("date out of range")
      case .data(let bytes): .data(bytes)
      case .string(let bytes): .text(ByteString(bytes))
      case .array(let values): .array(values.map { Self($0) })
      case .dictionary(let entries):
        .dictionary(entries.map { .init(key: ByteString($0.key), value: Self($0.value)) })
      case .uid(let number): .opaque("UID \(number)")
      case .opaque(let name): .opaque(name)
      }
  }
}

extension PropertyListValue {
  /// Creates a dictionary from properties, without values that a property list cannot have.
  init(_ properties: [StoredResponse.Property]) {
    self = .dictionary(
      properties.compactMap { property in
        PropertyListValue(property.value).map { Entry(key: property.key.bytes, value: $0) }
      })
  }

  private init?(_ value: StoredResponse.PropertyValue) {
    switch value {
    // A value of an unknown class cannot be written back. A caller that must not lose one keeps the
    // bytes of the list.
    case .null, .opaque: return nil
    case .boolean(let value): self = .boolean(value)
    case .integer(let value): self = .integer(value)
    case .real(let value): self = .real(value)
    case .date(let time): self = .date(time.secondsSince2001)
    case .data(let bytes): self = .data(bytes)
    case .text(let text): self = .string(text.bytes)
    case .array(let values): self = .array(values.compactMap { PropertyListValue($0) })
    case .dictionary(let properties): self = PropertyListValue(properties)
    }
  }
}
