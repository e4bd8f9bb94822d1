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
