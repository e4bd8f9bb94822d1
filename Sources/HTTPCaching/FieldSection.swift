/// One line of the header section of a message (RFC 9110 §5.2).
public struct FieldLine: Hashable, Sendable {
  /// The name, in the case in which it was received.
  public var name: [UInt8]

  /// The value, as it was received.
  public var value: [UInt8]

  /// Creates a line.
  public init(name: [UInt8], value: [UInt8]) {
    self.name = name
    self.value = value
  }
}

/// The header section of a message: its lines, in their order (RFC 9110 §5.2).
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

  /// The values of the lines of a field, in their order, without white space at the ends
  /// (RFC 9110 §5.3, §5.5).
  public func values(of name: FieldName) -> [[UInt8]] {
    var values: [[UInt8]] = []
    for line in lines where name.matches(line.name) { values.append(Array(line.value.trimmed)) }
    return values
  }

  /// The value of the first line of a field, without white space at the ends, or `nil` if there is
  /// none.
  ///
  /// Fields such as `Date` have one value; where a message repeats them, the first is used
  /// (RFC 9111 §4.2.1).
  public func firstValue(of name: FieldName) -> [UInt8]? {
    for line in lines where name.matches(line.name) {
      let isTrimmed =
        line.value.first?.isOptionalWhitespace != true
        && line.value.last?.isOptionalWhitespace != true
      return isTrimmed ? line.value : Array(line.value.trimmed)
    }
    return nil
  }

  /// Whether there is a line of a field (RFC 9110 §5.1).
  public func contains(_ name: FieldName) -> Bool {
    lines.contains { name.matches($0.name) }
  }
}
