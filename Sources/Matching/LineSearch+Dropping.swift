// What the buffer need not keep.
extension LineSearch {
  /// Whether lines are not needed once they were searched, as none of them can be context.
  var mayDropLines: Bool { before == 0 && remainingAfter == 0 }

  /// Searches the lines at the beginning of a piece without a copy of them, up to the first that may match.
  ///
  /// All bytes before must have been searched.
  ///
  /// - Returns: The number of bytes that are not needed.
  mutating func dropLines(of piece: ArraySlice<UInt8>) throws(RegularExpression.Overrun) -> Int {
    let text = piece.span
    guard
      let end = text.lastIndex(of: UInt8(ascii: "\n"), before: text.count, downTo: 0).map({ $0 + 1 }
      )
    else { return 0 }
    let candidate = try pattern.candidate(in: text.extracting(0..<end), from: 0)
    let count =
      candidate.map { candidate in
        text.lastIndex(of: UInt8(ascii: "\n"), before: candidate, downTo: 0).map { $0 + 1 } ?? 0
      } ?? end
    guard count > 0 else { return 0 }
    countLines(upTo: buffer.count)
    if numbersLines { number += Int64(text.count(of: UInt8(ascii: "\n"), in: 0..<count)) }
    bufferOffset += Int64(buffer.count + count)
    buffer.removeAll(keepingCapacity: true)
    (isLineStart, hasPartOfLine) = (true, false)
    (place, numbered, passedOn, contextStart, searchedForBreak) = (0, 0, 0, 0, 0)
    return count
  }

  mutating func countLines(upTo end: Int) {
    guard numbersLines, end > numbered else { return }
    number += Int64(buffer.span.count(of: UInt8(ascii: "\n"), in: numbered..<end))
    numbered = end
  }

  /// Drops bytes that are no longer needed.
  mutating func trim() {
    // What a copy of the rest costs is bounded by what was dropped.
    guard place > 256 << 10, place > buffer.count / 2 else { return }
    var keep = isLineStart ? place : max(0, place - Self.lookBehind)
    if before > 0, isLineStart {
      for _ in 0..<before where keep > 0 && place - keep < Self.mostContext {
        keep = lineStart(before: keep - 1, downTo: 0)
      }
      contextStart = 0
    } else {
      contextStart = place - keep
    }
    countLines(upTo: keep)
    buffer.removeFirst(keep)
    bufferOffset += Int64(keep)
    place -= keep
    numbered = max(0, numbered - keep)
    passedOn = max(0, passedOn - keep)
    searchedForBreak = max(0, searchedForBreak - keep)
  }
}
