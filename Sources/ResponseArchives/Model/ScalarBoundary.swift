/// Splits a stream of UTF-8 so that no scalar value spans two pieces.
struct ScalarBoundary {
  /// The first bytes of an incomplete scalar value.
  private var rest: [UInt8] = []

  /// Appends the next bytes.
  ///
  /// - Returns: The bytes up to the last complete scalar value, including those kept before.
  mutating func cut(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    let all = rest + bytes
    let end = all.count - Self.unfinishedCount(all)
    rest = Array(all[end...])
    return Array(all[..<end])
  }

  /// Returns the remaining bytes; empty if the text ended with a complete scalar value.
  consuming func finish() -> [UInt8] { rest }

  /// Returns the number of trailing bytes that belong to an incomplete scalar value.
  private static func unfinishedCount(_ bytes: [UInt8]) -> Int {
    // A sequence of UTF-8 has at most four bytes, so at most its first three can be cut off.
    for (index, byte) in bytes.suffix(3).reversed().enumerated() where byte & 0xC0 != 0x80 {
      let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
      return length > index + 1 ? index + 1 : 0
    }
    return 0
  }
}

/// Checks whether a stream is valid UTF-8.
struct UTF8Check {
  private var boundary = ScalarBoundary()
  private var isRight = true

  /// Appends the next bytes.
  mutating func append(_ bytes: ArraySlice<UInt8>) {
    guard isRight else { return }
    isRight = String(validating: boundary.cut(bytes), as: UTF8.self) != nil
  }

  /// Returns whether all bytes together are valid UTF-8.
  consuming func finish() -> Bool { isRight && boundary.finish().isEmpty }
}

extension Range<Int> {
  /// The middle of the range, for a search by halves; `nil` if it is empty.
  var middle: Int? { isEmpty ? nil : lowerBound + count / 2 }
}
