import Bytes

/// Bytes that are read one value after the other.
struct SpooledBytes {
  private var bytes: [UInt8]
  private var place = 0

  init(_ bytes: [UInt8] = []) { self.bytes = bytes }

  /// The number of bytes that were not read yet.
  var count: Int { bytes.count - place }

  /// Appends bytes, and drops those that were read.
  mutating func append(_ next: ArraySlice<UInt8>) {
    bytes.removeSubrange(..<place)
    bytes += next
    place = 0
  }

  /// Reads a byte.
  mutating func byte() -> UInt8 {
    defer { place += 1 }
    return bytes[place]
  }

  /// Reads a number.
  mutating func number() -> UInt64 {
    defer { place += 8 }
    return bytes.span.word(at: place)
  }

  /// Reads a number with a sign.
  mutating func integer() -> Int64 { Int64(bitPattern: number()) }

  /// Reads a text.
  mutating func text() -> ByteString {
    let count = Int(clamping: number())
    defer { place += count }
    return ByteString(Array(bytes[place..<place + count]))
  }

  /// Reads a value that may be missing.
  mutating func optional<Value>(_ read: (inout SpooledBytes) -> Value) -> Value? {
    byte() == 0 ? nil : read(&self)
  }

  /// Reads one of the cases of a type; `nil` for none of them.
  mutating func choice<Choice: CaseIterable>() -> Choice? {
    Choice.allCases.dropFirst(Int(byte())).first
  }
}

extension [UInt8] {
  /// Appends a number, as ``SpooledBytes`` reads it: the lowest byte first.
  mutating func append(number: UInt64) {
    append(addingCapacity: 8) { (output: inout OutputSpan<UInt8>) in
      for shift in stride(from: 0, to: 64 as UInt64, by: 8) {
        output.append(UInt8(truncatingIfNeeded: number >> shift))
      }
    }
  }

  /// Appends a number with a sign.
  mutating func append(integer: Int64) { append(number: UInt64(bitPattern: integer)) }

  /// Appends a text, after its length.
  mutating func append(text: ByteString) {
    append(number: UInt64(text.bytes.count))
    self += text.bytes
  }

  /// Appends a value that may be missing.
  mutating func append<Value>(_ value: Value?, _ append: (inout [UInt8], Value) -> Void) {
    self.append(value == nil ? 0 : 1)
    if let value { append(&self, value) }
  }

  /// Appends one of the cases of a type that has fewer than 255, or none of them.
  mutating func append<Choice: CaseIterable & Equatable>(choice: Choice?) {
    guard let choice else { return append(.max) }
    var place: UInt8 = 0
    for other in Choice.allCases {
      if other == choice { break }
      place += 1
    }
    append(place)
  }
}
