/// Text of which too much is left out in the middle.
enum Excerpt {
  /// The beginning and the end of text in UTF-8 that ``HostileText`` has made safe, or all of it.
  ///
  /// - Parameter characters: How many Unicode scalars are left at most. Columns would not bound it: a
  ///   mark that combines has none.
  static func of(_ text: [UInt8], characters: Int) -> [UInt8] {
    guard text.count > characters else { return text }
    let starts = text.indices.filter { text[$0] & 0xC0 != 0x80 }
    guard starts.count > characters else { return text }
    let head = text[..<starts[characters / 2]]
    let tail = text[starts[starts.count - (characters - characters / 2 - 1)]...]
    return head + Array("…".utf8) + tail
  }
}
