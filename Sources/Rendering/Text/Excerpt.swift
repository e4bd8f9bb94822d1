/// Shortens text in the middle.
enum Excerpt {
  /// Returns the beginning and the end of UTF-8 text that ``HostileText`` has made safe, or the whole text.
  ///
  /// - Parameter characters: The maximum number of Unicode scalars. A number of columns would not bound the size,
  ///   because combining marks have no width.
  static func of(_ text: [UInt8], characters: Int) -> [UInt8] {
    // A text never has more scalars than bytes.
    guard text.count > characters else { return text }
    // Cut between scalar values, since half of one would be shown as a broken byte.
    let starts = text.indices.filter { text[$0] & 0xC0 != 0x80 }
    guard starts.count > characters else { return text }
    let head = text[..<starts[characters / 2]]
    let tail = text[starts[starts.count - (characters - characters / 2 - 1)]...]
    return head + Array("…".utf8) + tail
  }
}
