import Bytes

/// A line of the header section of a message (RFC 9110 §5.2).
public struct FieldLine: Hashable, Sendable {
  /// The name, as it was received.
  public var name: [UInt8] {
    didSet { known = KnownFieldName(name.span) }
  }

  /// The value, as it was received.
  public var value: [UInt8]

  /// The known field of the line, computed once because it is looked up often.
  private(set) var known: KnownFieldName?

  /// Creates a line.
  public init(name: [UInt8], value: [UInt8]) {
    self.name = name
    self.value = value
    known = KnownFieldName(name.span)
  }

  /// The value without white space at either end (RFC 9110 §5.5).
  var trimmedValue: [UInt8] {
    let isTrimmed =
      value.first?.isBlank != true && value.last?.isBlank != true
    // Most values need no trimming, and are returned without a copy.
    return isTrimmed ? value : Array(value.trimmingBlanks)
  }
}

/// The header section of a message: its lines, in order (RFC 9110 §5.2).
public struct FieldSection: Hashable, Sendable {
  /// The lines; a field may have more than one.
  public var lines: [FieldLine]

  /// Creates a header section.
  public init(_ lines: some Sequence<FieldLine>) {
    self.lines = Array(lines)
  }

  /// Creates a header section without lines.
  public init() {
    lines = []
  }

  /// The values of all lines of a field, in order, without white space at either end (RFC 9110 §5.3, §5.5).
  public func values(of name: FieldName) -> [[UInt8]] {
    var values: [[UInt8]] = []
    let lines = lines.span
    for index in lines.indices where name.matches(lines[index]) {
      values.append(lines[index].trimmedValue)
    }
    return values
  }

  /// The value of the first line of a field, without white space at either end; `nil` if there is none.
  ///
  /// Fields such as `Date` have a single value. If a message repeats them, the first is used (RFC 9111 §4.2.1).
  public func firstValue(of name: FieldName) -> [UInt8]? {
    value(of: name, at: 0)
  }

  /// The value of the line of a field with an index, without white space at either end; `nil` if there are fewer lines
  /// (RFC 9110 §5.3, §5.5).
  func value(of name: FieldName, at place: Int) -> [UInt8]? {
    // Called often: iterating over the array would retain and release each line.
    let lines = lines.span
    var place = place
    for index in lines.indices where name.matches(lines[index]) {
      if place == 0 { return lines[index].trimmedValue }
      place -= 1
    }
    return nil
  }

  /// Whether there is a line of a field (RFC 9110 §5.1).
  public func contains(_ name: FieldName) -> Bool {
    let lines = lines.span
    for index in lines.indices where name.matches(lines[index]) { return true }
    return false
  }
}
