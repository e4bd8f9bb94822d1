import Bytes

// The matches of a line, of which there can be as many as bytes: they are found only as they are passed on.
extension LineSearch {
  /// The matches in a line, or in a part of one, and how far they were looked for.
  struct Matches {
    /// The line, or the part of it.
    let line: Range<Int>
    private let isLineStart: Bool
    private let isLineEnd: Bool
    /// The index before which a match must begin.
    private let end: Int
    /// Where the text begins that a match may look at.
    private let first: Int
    /// Where the next match can begin.
    private var start: Int
    /// The end of the last match that was found; 0 before the first.
    private(set) var lastEnd = 0

    init(
      in line: Range<Int>, of search: borrowing LineSearch, isLineStart: Bool, isLineEnd: Bool,
      before end: Int = .max
    ) {
      (self.line, self.isLineStart, self.isLineEnd) = (line, isLineStart, isLineEnd)
      self.end = end
      // The bytes before decide whether a word begins here.
      first = isLineStart ? line.lowerBound : max(0, line.lowerBound - LineSearch.lookBehind)
      start = line.lowerBound
    }

    fileprivate mutating func next(
      in buffer: Span<UInt8>, _ pattern: TextPattern
    ) throws(RegularExpression.Overrun) -> Range<Int>? {
      let text = buffer.extracting(first..<line.upperBound)
      guard start <= line.upperBound,
        let found = try pattern.firstMatch(
          in: text, from: start - first, isLineStart: isLineStart, isLineEnd: isLineEnd),
        first + found.lowerBound < end
      else {
        start = line.upperBound + 1
        return nil
      }
      let match = first + found.lowerBound..<first + found.upperBound
      (start, lastEnd) = (match.upperBound, match.upperBound)
      // An empty match would be found again.
      if match.isEmpty {
        start += 1
        while start < line.upperBound, buffer[start] & 0xC0 == 0x80 { start += 1 }
      }
      return match
    }
  }

  /// Returns the next match; `nil` if there is none.
  func nextMatch(of matches: inout Matches) throws(RegularExpression.Overrun) -> Range<Int>? {
    try matches.next(in: buffer.span, pattern)
  }
}
