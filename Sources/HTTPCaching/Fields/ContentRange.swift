/// The range of a representation in a message: `Content-Range: bytes 0-499/1234` (RFC 9110 §14.4).
public struct ContentRange: Hashable, Sendable {
  /// The position of the first byte, from 0.
  public let first: Int64

  /// The position of the last byte.
  public let last: Int64

  /// The size of the whole representation in bytes; `nil` if the sender does not know it and writes `*`.
  public let completeLength: Int64?

  /// Parses the value of a field; `nil` if it is not a valid range of bytes.
  ///
  /// A range that ends before it begins, or beyond the complete length, is invalid. Bodies must not be combined by it
  /// (RFC 9110 §14.4).
  public init?(_ value: [UInt8]) {
    guard value.prefix(5).equalsIgnoringCase("bytes"), value.dropFirst(5).first == Self.space else {
      return nil
    }
    let parts = value.dropFirst(6).split(separator: Self.slash, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let ends = parts[0].split(separator: Self.dash, omittingEmptySubsequences: false)
    // Only digits count. `Int64` itself would also parse a sign.
    guard ends.count == 2, let first = StoredBody.number(ends[0]),
      let last = StoredBody.number(ends[1]), first <= last
    else { return nil }
    (self.first, self.last) = (first, last)
    if parts[1].elementsEqual([Self.asterisk]) {
      completeLength = nil
    } else {
      guard let length = StoredBody.number(parts[1]), last < length else { return nil }
      completeLength = length
    }
  }

  /// Reads the field of a header section; `nil` unless it occurs exactly once and is valid.
  public init?(_ fields: FieldSection) {
    let values = fields.values(of: .contentRange)
    // With two ranges it is not known to which one the bytes belong, and a wrong choice would join
    // bodies in the wrong place.
    guard values.count == 1 else { return nil }
    self.init(values[0])
  }

  /// The number of bytes in the part.
  public var length: Int64 { (last - first).saturatingAdding(1) }

  private static let space = UInt8(ascii: " ")
  private static let slash = UInt8(ascii: "/")
  private static let dash = UInt8(ascii: "-")
  private static let asterisk = UInt8(ascii: "*")
}
