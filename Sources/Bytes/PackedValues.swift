/// Numbers and texts one after the other, in few bytes. The same process reads them again with a ``PackedReader``.
public struct PackedValues {
  /// The values so far.
  public private(set) var bytes: [UInt8] = []

  /// Creates values that are appended to.
  public init() {}

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
  public mutating func append(_ real: Double) {
    let pattern = real.bitPattern
    for shift in stride(from: UInt64(0), to: 64, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: pattern >> shift))
    }
  }

  /// Appends a text, after its length.
  public mutating func append(_ text: ByteString) { append(text.bytes) }

  /// Appends bytes, after their number.
  public mutating func append(_ text: [UInt8]) {
    append(text.count)
    bytes += text
  }

  /// Appends a truth value.
  public mutating func append(_ flag: Bool) { append(flag ? 1 : 0) }

  /// Appends a value that may be missing.
  public mutating func append<Value>(
    _ value: Value?, _ append: (inout PackedValues, Value) -> Void
  ) {
    self.append(value != nil)
    if let value { append(&self, value) }
  }

  /// Appends the number of values, and each of them.
  public mutating func append<Value>(
    all values: some Collection<Value>, _ append: (inout PackedValues, Value) -> Void
  ) {
    self.append(values.count)
    for value in values { append(&self, value) }
  }

  /// Appends one of the cases of a type.
  public mutating func append<Choice: CaseIterable & Equatable>(choice: Choice) {
    var place = 0
    for other in Choice.allCases {
      if other == choice { break }
      place += 1
    }
    append(place)
  }
}
