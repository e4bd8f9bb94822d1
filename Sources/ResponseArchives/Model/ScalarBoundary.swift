/// Cuts a text in UTF-8 that comes piece by piece, so that no scalar value is in two pieces.
struct ScalarBoundary {
  /// The beginning of a scalar value whose other bytes have not come yet.
  private var rest: [UInt8] = []

  /// Takes the next bytes.
  ///
  /// - Returns: All of them, after what was left before, up to the last scalar value that is whole.
  mutating func cut(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    let all = rest + bytes
    let end = all.count - Self.unfinishedCount(all)
    rest = Array(all[end...])
    return Array(all[..<end])
  }

  /// What is left; empty if the text ended with a whole scalar value.
  consuming func finish() -> [UInt8] { rest }

  /// How many bytes at the end begin a scalar value that needs more.
  private static func unfinishedCount(_ bytes: [UInt8]) -> Int {
    for (index, byte) in bytes.suffix(3).reversed().enumerated() where byte & 0xC0 != 0x80 {
      let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
      return length > index + 1 ? index + 1 : 0
    }
    return 0
  }
}

/// Whether a text that comes piece by piece is UTF-8.
struct UTF8Check {
  private var boundary = ScalarBoundary()
  private var isRight = true

  /// Takes the next bytes.
  mutating func append(_ bytes: ArraySlice<UInt8>) {
    guard isRight else { return }
    isRight = String(validating: boundary.cut(bytes), as: UTF8.self) != nil
  }

  /// Whether all bytes together are UTF-8.
  consuming func finish() -> Bool { isRight && boundary.finish().isEmpty }
}
