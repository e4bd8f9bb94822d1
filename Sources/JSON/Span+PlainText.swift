import Bytes

extension Span<UInt8> {
  /// Returns the index of the first byte of a string that ends it or needs decoding; `count` if there is none.
  func endOfPlainText(from start: Int) -> Int {
    var end = start
    // Bytes from 0x80 on pass without being checked: most texts are only compared byte by byte,
    // and who makes a `String` of one finds out then whether it is UTF-8.
    while end &+ 8 <= count {
      let ends = Self.bytesThatEnd(word(at: end))
      if ends != 0 { return end + ends.trailingZeroBitCount / 8 }
      end &+= 8
    }
    while end < count {
      let byte = self[end]
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { break }
      end += 1
    }
    return end
  }

  /// Returns a word whose lowest set bit is in the first of eight bytes that ends a run of plain text; 0 if none does.
  @inline(__always)
  private static func bytesThatEnd(_ word: UInt64) -> UInt64 {
    let ones = 0x0101_0101_0101_0101 as UInt64
    let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
    let slashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
    // A byte borrows from the next one only if it is found itself, so the first one that is found is right.
    let found =
      (word &- ones &* 0x20) & ~word | (quotes &- ones) & ~quotes | (slashes &- ones) & ~slashes
    return found & (ones &* 0x80)
  }
}
