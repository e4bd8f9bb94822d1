import Bytes

/// The bytes of pages, in which one value follows the other without anything between them.
enum RawText {
  /// Returns a copy in which a NUL stands between values, so that a secret ends where its value ends.
  ///
  /// Nothing is moved. What is overwritten is the mark of a string in a property list, which can be a letter, and the
  /// first digit of the time that follows a URL.
  static func separated(_ page: ArraySlice<UInt8>) -> [UInt8] {
    var text = Array(page)
    var place = 0
    while place + 3 < text.count {
      if text[place] == longString, let content = longContent(of: text, at: place) {
        for index in place..<content.lowerBound { text[index] = 0 }
        place = endOfStrings(in: &text, at: content.upperBound)
      } else if text[place] == UInt8(ascii: "2"), isTime(text, at: place) {
        text[place] = 0
        place += 19
      } else {
        place += 1
      }
    }
    return text
  }

  /// The mark of a string of 15 or more characters, which is a `_`.
  private static let longString: UInt8 = 0x5F

  /// Returns the range of the content of a string whose length has one or two bytes.
  private static func longContent(of text: [UInt8], at place: Int) -> Range<Int>? {
    let start: Int
    let count: Int
    switch text[place + 1] {
    case 0x10: (start, count) = (place + 3, Int(text[place + 2]))
    case 0x11: (start, count) = (place + 4, Int(text[place + 2]) << 8 | Int(text[place + 3]))
    default: return nil
    }
    guard count > 0, start + count <= text.count,
      text[start..<start + count].allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x0A })
    else { return nil }
    return start..<start + count
  }

  /// Overwrites the marks of the short strings that follow, and returns where they end.
  private static func endOfStrings(in text: inout [UInt8], at end: Int) -> Int {
    var place = end
    while place < text.count, (0x51...0x5E).contains(text[place]) {
      let count = Int(text[place] & 0x0F)
      text[place] = 0
      guard place + 1 + count <= text.count else { return text.count }
      place += 1 + count
    }
    return place
  }

  /// Whether a time as SQLite writes it is at a place: `2026-01-31 12:00:00`.
  private static func isTime(_ text: [UInt8], at place: Int) -> Bool {
    let shape = Array("dddd-dd-dd dd:dd:dd".utf8)
    guard place + shape.count <= text.count else { return false }
    for (index, kind) in shape.enumerated() {
      let byte = text[place + index]
      guard kind == UInt8(ascii: "d") ? byte.isASCIIDigit : byte == kind else { return false }
    }
    return true
  }
}
