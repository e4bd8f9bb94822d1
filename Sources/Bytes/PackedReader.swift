/// Reads ``PackedValues`` in their order.
public struct PackedReader {
  /// The bytes are not those that were written.
  public struct Failure: Error {
    /// Creates the error.
    public init() {}
  }

  private let bytes: [UInt8]
  private var place = 0

  /// Creates a reader of ``PackedValues/bytes``.
  public init(_ bytes: [UInt8]) { self.bytes = bytes }

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
  public mutating func number<Number: FixedWidthInteger>(
    _ type: Number.Type
  ) throws(Failure) -> Number {
    guard let result = Number(exactly: try number()) else { throw Failure() }
    return result
  }

  /// Reads a number that was written in eight bytes.
  public mutating func real() throws(Failure) -> Double {
    guard bytes.count - place >= 8 else { throw Failure() }
    var pattern: UInt64 = 0
    for index in 0..<8 { pattern |= UInt64(bytes[place + index]) << UInt64(8 * index) }
    place += 8
    return Double(bitPattern: pattern)
  }

  /// Reads a text.
  public mutating func text() throws(Failure) -> ByteString { ByteString(try data()) }

  /// Reads bytes.
  public mutating func data() throws(Failure) -> [UInt8] {
    let count = try number(Int.self)
    guard count >= 0, count <= bytes.count - place else { throw Failure() }
    defer { place += count }
    return Array(bytes[place..<place + count])
  }

  /// Reads a truth value.
  public mutating func flag() throws(Failure) -> Bool { try number() != 0 }

  /// Reads a value that may be missing.
  public mutating func optional<Value>(
    _ read: (inout PackedReader) throws(Failure) -> Value
  ) throws(Failure) -> Value? {
    try flag() ? try read(&self) : nil
  }

  /// Reads several values of a kind.
  public mutating func all<Value>(
    _ read: (inout PackedReader) throws(Failure) -> Value
  ) throws(Failure) -> [Value] {
    var values: [Value] = []
    for _ in 0..<max(0, try number(Int.self)) { values.append(try read(&self)) }
    return values
  }

  /// Reads one of the cases of a type.
  public mutating func choice<Choice: CaseIterable>() throws(Failure) -> Choice {
    try element(of: Array(Choice.allCases))
  }

  /// Reads the number of a case.
  public mutating func element<Element>(of all: [Element]) throws(Failure) -> Element {
    let index = try number(Int.self)
    guard all.indices.contains(index) else { throw Failure() }
    return all[index]
  }
}
