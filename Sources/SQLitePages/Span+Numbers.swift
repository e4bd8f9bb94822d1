// All numbers of a SQLite file are big-endian. Callers check that the bytes exist: a place outside
// the span stops the program.
extension Span<UInt8> {
  /// Reads two bytes as a number.
  @inline(__always)
  func number16(at place: Int) -> Int {
    Int(self[place]) << 8 | Int(self[place + 1])
  }

  /// Reads four bytes as a number.
  @inline(__always)
  func number32(at place: Int) -> UInt32 {
    UInt32(self[place]) << 24 | UInt32(self[place + 1]) << 16 | UInt32(self[place + 2]) << 8
      | UInt32(self[place + 3])
  }

  /// Reads a signed number of one to eight bytes.
  func signedNumber(at place: Int, size: Int) -> Int64 {
    var value = Int64(Int8(bitPattern: self[place]))
    for index in place + 1..<place + size { value = value << 8 | Int64(self[index]) }
    return value
  }

  /// Reads a variable-length integer of one to nine bytes.
  ///
  /// - Parameter end: The place before which all its bytes must be.
  /// - Returns: `nil` if the integer does not end before `end`.
  @inline(__always)
  func variableInteger(at place: Int, before end: Int) -> (value: UInt64, size: Int)? {
    guard place >= 0, place < end, end <= count else { return nil }
    let first = self[place]
    if first < 0x80 { return (UInt64(first), 1) }
    return longVariableInteger(at: place, before: end)
  }

  private func longVariableInteger(at place: Int, before end: Int) -> (value: UInt64, size: Int)? {
    var value: UInt64 = 0
    for size in 1...8 {
      guard place + size <= end else { return nil }
      let byte = self[place + size - 1]
      value = value << 7 | UInt64(byte & 0x7F)
      if byte < 0x80 { return (value, size) }
    }
    // The ninth byte has eight bits of the value.
    guard place + 9 <= end else { return nil }
    return (value << 8 | UInt64(self[place + 8]), 9)
  }
}

/// The number of bytes of a variable-length integer.
func variableIntegerSize(_ value: UInt64) -> Int {
  value >> 56 != 0 ? 9 : max(1, (64 - value.leadingZeroBitCount + 6) / 7)
}
