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
