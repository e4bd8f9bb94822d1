import Bytes
import Files
import SQLite

/// Numbers and texts one after the other, in few bytes.
struct PackedValues {
  private(set) var bytes: [UInt8] = []

  /// Adds a number: a small one takes one byte.
  mutating func append(_ number: Int64) {
    // The sign is the last bit, so that a number slightly below 0 is short, too.
    var rest = UInt64(bitPattern: number << 1 ^ number >> 63)
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  mutating func append(_ number: Int) { append(Int64(number)) }

  mutating func append(_ real: Double) {
    let pattern = real.bitPattern
    for shift in stride(from: UInt64(0), to: 64, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: pattern >> shift))
    }
  }

  mutating func append(_ text: ByteString) {
    append(text.bytes.count)
    bytes += text.bytes
  }
}

/// Reads packed values in their order.
struct PackedReader {
  /// The bytes are not those that were written.
  struct Failure: Error {}

  private let bytes: [UInt8]
  private var place = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func number() throws(Failure) -> Int64 {
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
  mutating func number<Number: FixedWidthInteger>(
    _ type: Number.Type
  ) throws(Failure) -> Number {
    guard let result = Number(exactly: try number()) else { throw Failure() }
    return result
  }

  mutating func real() throws(Failure) -> Double {
    guard bytes.count - place >= 8 else { throw Failure() }
    var pattern: UInt64 = 0
    for index in 0..<8 { pattern |= UInt64(bytes[place + index]) << UInt64(8 * index) }
    place += 8
    return Double(bitPattern: pattern)
  }

  mutating func text() throws(Failure) -> ByteString {
    let count = try number(Int.self)
    guard count >= 0, count <= bytes.count - place else { throw Failure() }
    defer { place += count }
    return ByteString(Array(bytes[place..<place + count]))
  }

  /// Reads the number of a case.
  mutating func element<Element>(of all: [Element]) throws(Failure) -> Element {
    let index = try number(Int.self)
    guard all.indices.contains(index) else { throw Failure() }
    return all[index]
  }
}

extension TemporaryDatabase {
  /// Reads packed values in a column of the current row.
  func unpack<Result>(
    _ statement: borrowing Statement, at column: Int32,
    _ body: (inout PackedReader) throws(PackedReader.Failure) -> Result
  ) throws(FileError) -> Result {
    var reader = PackedReader(statement.bytes(at: column))
    do throws(PackedReader.Failure) { return try body(&reader) } catch {
      throw FileError.incomplete(at: Self.folder).ofTemporaryFile
    }
  }
}
