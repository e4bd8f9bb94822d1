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

/// What the records of a table look like: the types that the values of each column can have.
///
/// Bytes that only look like a record are told from one by it.
public struct RecordShape: Sendable {
  /// Types of values.
  public struct Types: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    public static let null = Self(rawValue: 1)
    public static let integer = Self(rawValue: 2)
    public static let real = Self(rawValue: 4)
    public static let text = Self(rawValue: 8)
    public static let blob = Self(rawValue: 16)
  }

  /// The types and lengths of the values of a column.
  public struct Column: Hashable, Sendable {
    /// The types.
    public var types: Types

    /// The lengths of text and BLOBs, in bytes.
    public var lengths: ClosedRange<Int>

    /// Creates a column.
    public init(_ types: Types, lengths: ClosedRange<Int> = 0...0x7FFF_FFFF) {
      self.types = types
      self.lengths = lengths
    }

    /// Whether a value of the column can have a type.
    @inline(__always)
    public func allows(_ type: SerialType) -> Bool {
      // Without the operations on sets, which take most of the time in a build without optimization.
      if type.isText || type.isBlob {
        let wanted: Types = type.isText ? .text : .blob
        return types.rawValue & wanted.rawValue != 0 && lengths.contains(type.length)
      }
      let wanted: Types = type.isNull ? .null : type.isInteger ? .integer : .real
      return types.rawValue & wanted.rawValue != 0
    }
  }

  /// The columns.
  public let columns: [Column]

  /// Whether the records are those of an index, whose cells have no row id.
  public let isIndex: Bool

  /// Whether a record is accepted only with its row id, because too many other bytes look like one.
  public let needsRowID: Bool

  /// Creates a shape.
  public init(_ columns: [Column], isIndex: Bool = false, needsRowID: Bool = false) {
    self.columns = columns
    self.isIndex = isIndex
    self.needsRowID = needsRowID
  }

  /// Whether the id of a row can be missing before its record.
  var canLoseRowID: Bool { !isIndex && !needsRowID }

  /// Whether a record has this shape.
  public func matches(_ header: RecordHeader) -> Bool {
    header.values.count == columns.count
      && columns.indices.allSatisfy { columns[$0].allows(header.values[$0].type) }
  }

  /// Reads the types of the values from a column on.
  ///
  /// - Returns: The place after the last type, or `nil` if the types are not those of the columns.
  func end(ofTypesIn bytes: Span<UInt8>, at start: Int, from column: Int, before end: Int) -> Int? {
    var place = start
    for index in column..<columns.count {
      guard let (code, size) = bytes.variableInteger(at: place, before: end),
        let type = SerialType(code), columns[index].allows(type)
      else { return nil }
      place += size
    }
    return place
  }
}
