/// Renders a line that a user wrote, with an error marked on the line below.
public enum MarkedText {
  /// The maximum number of bytes shown before the mark, and from its beginning on.
  private static let mostBytes = 72

  /// Returns the two lines, safe to show on a terminal. Of a long line, only the part around the mark is shown.
  ///
  /// - Parameters:
  ///   - line: The line, without its line end.
  ///   - range: The range of the error, in bytes of UTF-8. For an empty range, one column is marked.
  public static func text(_ line: String, marking range: Range<Int>) -> String {
    let bytes = Array(line.utf8)
    // An error at the end of a line lies behind its last byte.
    let mark = range.clamped(to: 0..<bytes.count)
    let first = scalarStart(at: mark.lowerBound - mostBytes, in: bytes)
    // A line of a configuration may be a megabyte long.
    let end = scalarStart(at: mark.lowerBound + mostBytes, in: bytes)
    let before = (first > 0 ? "…" : "") + shown(bytes[first..<mark.lowerBound])
    let marked = shown(bytes[mark.lowerBound..<min(mark.upperBound, end)])
    let after =
      shown(bytes[min(mark.upperBound, end)..<end]) + (end < bytes.count ? "…" : "")
    // By columns and not by characters, or else the mark would be off after a wide one.
    let carets = String(repeating: "^", count: max(1, width(marked)))
    let indent = String(repeating: " ", count: width(before))
    return "  \(before)\(marked)\(after)\n  \(indent)\(carets)"
  }

  /// Returns the index at which the scalar with the byte at `index` begins.
  private static func scalarStart(at index: Int, in bytes: [UInt8]) -> Int {
    var index = min(max(0, index), bytes.count)
    while index > 0, index < bytes.count, bytes[index] & 0xC0 == 0x80 { index -= 1 }
    return index
  }

  private static func shown(_ bytes: ArraySlice<UInt8>) -> String {
    HostileText.shown(String(decoding: bytes, as: UTF8.self))
  }

  private static func width(_ text: String) -> Int { DisplayWidth.width(of: Array(text.utf8)[...]) }
}
