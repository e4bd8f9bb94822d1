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

/// Reads ``PackedValues`` in their order.
public struct PackedReader {
  /// The bytes are not those that were written.
  public struct Failure: Error {
    /// Creates the error.
    public init() {}
  }

  private var bytes: [UInt8]
  private var place = 0

  /// Creates a reader of ``PackedValues/bytes``.
  public init(_ bytes: [UInt8] = []) { self.bytes = bytes }

  /// The number of bytes that were not read yet.
  public var count: Int { bytes.count - place }

  /// Appends bytes to those that are read, and drops those that were.
  public mutating func append(_ next: ArraySlice<UInt8>) {
    bytes.removeSubrange(..<place)
    bytes += next
    place = 0
  }

  /// Reads a number.
  public mutating func number() throws(Failure) -> Int64 {
    var (rest, shift): (UInt64, UInt64) = (0, 0)
    while place < bytes.count, shift < 64 {
      let byte = bytes[place]
      place += 1
      rest |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return Int64(bitPattern: rest >> 1) ^ -Int64(bitPattern: rest & 1) }
      shift += 7
    }
    throw Failure()
  }

  /// Reads a number of another type.
  @inlinable
  public mutating func number<Number: FixedWidthInteger>(
    _ type: Number.Type
  ) throws(Failure) -> Number {
    guard let result = Number(exactly: try number()) else { throw Failure() }
    return result
  }

  /// Reads a number that was written in eight bytes.
  public mutating func real() throws(Failure) -> Double { Double(bitPattern: try bits()) }

  /// Reads a number that was written in eight bytes.
  public mutating func bits() throws(Failure) -> UInt64 {
    guard count >= 8 else { throw Failure() }
    defer { place += 8 }
    return bytes.span.word(at: place)
  }

  /// Reads a text.
  public mutating func text() throws(Failure) -> ByteString { ByteString(try data()) }

  /// Reads a text that may be missing.
  public mutating func optionalText() throws(Failure) -> ByteString? {
    try flag() ? try text() : nil
  }

  /// Reads a number that may be missing.
  public mutating func optionalNumber() throws(Failure) -> Int64? {
    try flag() ? try number() : nil
  }

  /// Reads bytes.
  public mutating func data() throws(Failure) -> [UInt8] {
    let length = try number(Int.self)
    guard length >= 0, length <= count else { throw Failure() }
    defer { place += length }
    return Array(bytes[place..<place + length])
  }

  /// Reads a truth value.
  public mutating func flag() throws(Failure) -> Bool {
    guard count > 0 else { throw Failure() }
    defer { place += 1 }
    return bytes[place] != 0
  }

  /// Reads a value that may be missing.
  @inlinable
  public mutating func optional<Value>(
    _ read: (inout PackedReader) throws(Failure) -> Value
  ) throws(Failure) -> Value? {
    try flag() ? try read(&self) : nil
  }

  /// Reads several values of a kind.
  @inlinable
  public mutating func all<Value>(
    _ read: (inout PackedReader) throws(Failure) -> Value
  ) throws(Failure) -> [Value] {
    var values: [Value] = []
    for _ in 0..<max(0, try number(Int.self)) { values.append(try read(&self)) }
    return values
  }

  /// Reads one of the cases of a type.
  @inlinable
  public mutating func choice<Choice: CaseIterable>() throws(Failure) -> Choice {
    try element(of: Choice.allCases)
  }

  /// Reads the number of a case.
  @inlinable
  public mutating func element<Element>(
    of all: some Collection<Element>
  ) throws(Failure) -> Element {
    let number = try number(Int.self)
    guard number >= 0, let element = all.dropFirst(number).first else { throw Failure() }
    return element
  }
}
