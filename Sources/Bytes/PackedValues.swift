/// Numbers and texts one after the other, in few bytes. The same process reads them again with a ``PackedReader``.
public struct PackedValues {
  /// The values so far.
  public private(set) var bytes: [UInt8] = []

  /// Creates values that are appended to.
  public init() {}

  /// Removes all values, and keeps the memory for others.
  public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Appends a number: a small one takes one byte.
  public mutating func append(_ number: Int64) {
    // The sign is the last bit, so that a number slightly below 0 is short, too.
    var rest = UInt64(bitPattern: number << 1 ^ number >> 63)
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Appends a number: a small one takes one byte.
  public mutating func append(_ number: Int) { append(Int64(number)) }

  /// Appends a number in eight bytes.
  public mutating func append(_ real: Double) { append(bits: real.bitPattern) }

  /// Appends a number in eight bytes.
  public mutating func append(bits: UInt64) { bytes.append(word: bits) }

  /// Appends a text, after its length.
  public mutating func append(_ text: ByteString) { append(text.bytes) }

  /// Appends bytes, after their number.
  public mutating func append(_ data: [UInt8]) {
    append(data.count)
    bytes += data
  }

  /// Appends other values.
  public mutating func append(_ values: PackedValues) { bytes += values.bytes }

  /// Appends a truth value.
  public mutating func append(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

  /// Appends a value that may be missing.
  @inlinable
  public mutating func append<Value>(
    _ value: Value?, _ append: (inout PackedValues, Value) -> Void
  ) {
    self.append(value != nil)
    if let value { append(&self, value) }
  }

  /// Appends the number of values, and each of them.
  @inlinable
  public mutating func append<Value>(
    all values: some Collection<Value>, _ append: (inout PackedValues, Value) -> Void
  ) {
    self.append(values.count)
    for value in values { append(&self, value) }
  }

  /// Appends one of the cases of a type.
  @inlinable
  public mutating func append<Choice: CaseIterable & Equatable>(choice: Choice) {
    var place = 0
    for other in Choice.allCases {
      if other == choice { break }
      place += 1
    }
    append(place)
  }
}
