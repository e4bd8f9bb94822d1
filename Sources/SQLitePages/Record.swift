/// The type and length of a value in a record.
public struct SerialType: Hashable, Sendable {
  /// The number in the header of the record.
  public let code: UInt64

  /// The type of NULL.
  static let null = SerialType(unchecked: 0)

  private init(unchecked code: UInt64) { self.code = code }

  /// Creates a type from its number.
  ///
  /// - Returns: `nil` for 10 and 11, which SQLite never writes, and for values longer than any can be.
  public init?(_ code: UInt64) {
    guard code != 10, code != 11, code < 1 << 32 else { return nil }
    self.code = code
  }

  /// The length of the value, in bytes.
  public var length: Int {
    switch code {
    case 0, 8, 9: 0
    case 1...4: Int(code)
    case 5: 6
    case 6, 7: 8
    default: Int(code - 12) / 2
    }
  }

  public var isNull: Bool { code == 0 }
  /// Whether it is an integer.
  public var isInteger: Bool { 1...6 ~= code || code == 8 || code == 9 }
  public var isReal: Bool { code == 7 }
  public var isText: Bool { code >= 13 && code % 2 == 1 }
  public var isBlob: Bool { code >= 12 && code % 2 == 0 }
}

/// The header of a record: the types of its values, and where they are in the payload.
public struct RecordHeader: Hashable, Sendable {
  /// A value of a record.
  public struct Value: Hashable, Sendable {
    /// Its type.
    public var type: SerialType

    /// Its bytes, counted from the beginning of the payload.
    public var range: Range<Int>
  }

  /// The values in the order of the columns.
  public var values: [Value]

  /// The length of the header.
  public var length: Int

  /// The length of the whole record.
  public var size: Int { values.last?.range.upperBound ?? length }

  /// Reads the header of the record that begins at an offset.
  ///
  /// - Parameters:
  ///   - bytes: The bytes with the beginning of the payload, which must contain the whole header.
  ///   - end: Where the header must end.
  ///   - maximumCount: The most values to accept.
  public init?(_ bytes: Span<UInt8>, at start: Int, before end: Int, maximumCount: Int = 64) {
    guard let (length, lengthSize) = bytes.variableInteger(at: start, before: end),
      length >= UInt64(lengthSize), length <= UInt64(end - start)
    else { return nil }
    self.length = Int(length)
    values = []
    var place = start + lengthSize
    var offset = Int(length)
    while place < start + Int(length) {
      guard values.count < maximumCount,
        let (code, size) = bytes.variableInteger(at: place, before: start + Int(length)),
        let type = SerialType(code)
      else { return nil }
      values.append(Value(type: type, range: offset..<offset + type.length))
      offset += type.length
      place += size
    }
  }

  /// Reads the header of the record of a row.
  public init?(_ page: Span<UInt8>, of cell: RowCell) {
    self.init(page, at: cell.payload.local.lowerBound, before: cell.payload.local.upperBound)
  }

  /// Returns where a value of the record of a row is, without reading the other values.
  ///
  /// - Returns: The bytes, counted from the beginning of the payload; `nil` if there is no such value.
  public static func range(
    ofValue index: Int, in page: Span<UInt8>, of cell: RowCell
  ) -> Range<Int>? {
    let (start, end) = (cell.payload.local.lowerBound, cell.payload.local.upperBound)
    guard let (length, lengthSize) = page.variableInteger(at: start, before: end),
      length <= UInt64(end - start)
    else { return nil }
    var place = start + lengthSize
    var offset = Int(length)
    for number in 0...index {
      guard let (code, size) = page.variableInteger(at: place, before: start + Int(length)),
        let type = SerialType(code)
      else { return nil }
      if number == index { return offset..<offset + type.length }
      offset += type.length
      place += size
    }
    return nil
  }

  /// Creates a header from the types of the values, for a record whose header is partly overwritten.
  public init(_ types: [SerialType], length: Int) {
    self.length = length
    values = []
    values.reserveCapacity(types.count)
    var offset = length
    for type in types {
      values.append(Value(type: type, range: offset..<offset + type.length))
      offset += type.length
    }
  }

  /// Returns an integer of a record.
  ///
  /// - Parameter payload: The payload, or at least its beginning.
  /// - Returns: `nil` if the value is no integer, or not in `payload`.
  public func integer(_ index: Int, in payload: Span<UInt8>) -> Int64? {
    guard values.indices.contains(index), values[index].type.isInteger else { return nil }
    let (type, range) = (values[index].type, values[index].range)
    switch type.code {
    case 8: return 0
    case 9: return 1
    default:
      guard range.upperBound <= payload.count else { return nil }
      return payload.signedNumber(at: range.lowerBound, size: range.count)
    }
  }

  /// Returns a real number of a record.
  public func real(_ index: Int, in payload: Span<UInt8>) -> Double? {
    guard values.indices.contains(index), values[index].type.isReal,
      values[index].range.upperBound <= payload.count
    else { return nil }
    return Double(
      bitPattern: UInt64(
        bitPattern: payload.signedNumber(at: values[index].range.lowerBound, size: 8)))
  }
}
