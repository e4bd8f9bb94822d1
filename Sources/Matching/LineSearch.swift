import Bytes

/// A search for a pattern in a text that arrives in pieces, line by line.
///
/// A match never depends on where a piece ends: a line is searched when all of it has arrived. Only a line above
/// ``longestLine`` is searched in parts, which overlap: a match that is longer than the overlap may be found in part.
public struct LineSearch: Sendable {
  /// What a search does after a line.
  public enum Step: Sendable {
    case next, stop
  }

  /// The longest line that is searched as a whole, in bytes.
  public static let longestLine = 1 << 19
  /// The length that a match in a longer line may have, in bytes, and how far it may look back.
  static let (overlap, lookBehind) = (64 << 10, 4 << 10)
  /// The number of bytes that are passed on before the first match of a line, and in all.
  static let (mostBefore, mostBytes) = (4 << 10, 32 << 10)
  /// The matches of a line without text.
  private static let oneMatch = [0..<0]
  /// The maximum length of the lines that are kept for the context, in bytes.
  static let mostContext = 256 << 10

  let pattern: TextPattern
  let before: Int
  private let after: Int
  private let longestLine: Int
  let numbersLines: Bool
  /// Whether the text of lines and all their matches are passed on.
  private let passesText: Bool

  /// The bytes that have arrived, without those that are no longer needed.
  var buffer: [UInt8] = []
  /// The offset of ``buffer`` in the text.
  var bufferOffset: Int64 = 0
  /// The index of the first byte that has not been searched: the beginning of a line, or of a part of one.
  var place = 0
  /// Whether `place` is at the beginning of a line.
  var isLineStart = true
  /// Whether a part of the line at `place` was passed on.
  var hasPartOfLine = false
  /// The index up to which no line break can be.
  var searchedForBreak = 0
  /// The number of the line of an index in ``buffer``.
  var (number, numbered): (Int64, Int) = (1, 0)
  /// The number of lines that remain to be passed on as context.
  var remainingAfter = 0
  /// The index at which the first line begins that is kept for the context.
  var contextStart = 0
  /// The index after the last line that was passed on.
  var passedOn = 0

  /// Whether the search was stopped.
  public private(set) var isStopped = false

  /// Whether nothing that follows can be passed on.
  public var isDone: Bool { isStopped && remainingAfter == 0 }

  /// Creates a search.
  ///
  /// - Parameters:
  ///   - before: The number of lines to pass on before each match.
  ///   - after: The number of lines to pass on after each match.
  ///   - numbersLines: Whether to number the lines, for which all line breaks must be counted.
  ///   - passesText: Whether to pass on the text of lines and all their matches; otherwise each line has no text and
  ///     one match.
  public init(
    _ pattern: TextPattern, before: Int = 0, after: Int = 0, numbersLines: Bool = false,
    passesText: Bool = true
  ) {
    self.init(
      pattern, before: before, after: after, numbersLines: numbersLines, passesText: passesText,
      longestLine: Self.longestLine)
  }

  init(
    _ pattern: TextPattern, before: Int, after: Int, numbersLines: Bool = true,
    passesText: Bool = true, longestLine: Int
  ) {
    (self.pattern, self.before, self.after) = (pattern, before, after)
    (self.numbersLines, self.passesText) = (numbersLines, passesText)
    self.longestLine = longestLine
  }

  /// Ends the search for matches; lines of context are still passed on.
  public mutating func stop() { isStopped = true }

  /// Searches the next piece of the text.
  ///
  /// - Parameter body: Takes each line with matches, and each line of context, in order.
  /// - Throws: ``RegularExpression/Overrun`` if a limit is exceeded, or any error of `body`.
  public mutating func append(
    _ piece: ArraySlice<UInt8>, _ body: (MatchedLine) throws -> Step
  ) throws {
    if isDone { return }
    var piece = piece
    if place < buffer.count, mayDropLines,
      let end = piece.span.firstIndex(of: UInt8(ascii: "\n"), from: 0)
    {
      buffer.append(contentsOf: piece.prefix(end + 1))
      piece = piece.dropFirst(end + 1)
      try searchLines(upTo: buffer.count, body)
      searchedForBreak = buffer.count
      if isDone { return }
    }
    if place == buffer.count, mayDropLines { piece = try piece.dropFirst(dropLines(of: piece)) }
    buffer.append(contentsOf: piece)
    let lastBreak = buffer.span.lastIndex(
      of: UInt8(ascii: "\n"), before: buffer.count, downTo: searchedForBreak)
    if let lastBreak { try searchLines(upTo: lastBreak + 1, body) }
    searchedForBreak = buffer.count
    while buffer.count - place > longestLine { try searchPart(body) }
    trim()
  }

  /// Searches what is left at the end of the text.
  ///
  /// - Throws: As ``append(_:_:)``.
  public mutating func finish(_ body: (MatchedLine) throws -> Step) throws {
    if place < buffer.count { try searchLines(upTo: buffer.count, body) }
  }

  /// Searches whole lines, the last of which may lack its line break at the end of the text.
  private mutating func searchLines(
    upTo end: Int, _ body: (MatchedLine) throws -> Step
  ) throws {
    while place < end {
      guard !isStopped, let candidate = try candidate(upTo: end) else {
        try passOnContext(upTo: end, body)
        place = end
        break
      }
      let lineStart = lineStart(before: candidate, downTo: place)
      let lineEnd = lineEnd(from: candidate, upTo: end)
      let isWhole = isLineStart || lineStart > place
      var matches = Matches(
        in: lineStart..<lineEnd, of: self, isLineStart: isWhole, isLineEnd: true)
      let next = min(lineEnd + 1, end)
      if let first = try nextMatch(of: &matches) {
        try passOnContext(upTo: lineStart, body)
        if lineStart > place { hasPartOfLine = false }
        try passOnLinesBefore(lineStart, body)
        try passOn(
          first, &matches, hasStart: isWhole, hasEnd: true, hasBreak: lineEnd < end, body)
        remainingAfter = after
      } else {
        try passOnContext(upTo: next, body)
      }
      (place, isLineStart, hasPartOfLine) = (next, true, false)
    }
    (isLineStart, hasPartOfLine) = (true, false)
  }

  /// Returns the beginning of the line with the byte before an index, or `start` if that is later.
  func lineStart(before end: Int, downTo start: Int) -> Int {
    buffer.span.lastIndex(of: UInt8(ascii: "\n"), before: end, downTo: start).map { $0 + 1 }
      ?? start
  }

  /// Returns the index of the line break that ends the line at `start`, or `end` if that is earlier.
  private func lineEnd(from start: Int, upTo end: Int) -> Int {
    min(buffer.span.firstIndex(of: UInt8(ascii: "\n"), from: start) ?? end, end)
  }

  private func candidate(upTo end: Int) throws(RegularExpression.Overrun) -> Int? {
    try pattern.candidate(in: buffer.span.extracting(0..<end), from: place)
  }

  /// Searches a part of a line that is too long.
  private mutating func searchPart(_ body: (MatchedLine) throws -> Step) throws {
    let overlap = min(pattern.longestMatch ?? Self.overlap, longestLine / 2)
    let end = buffer.count - overlap
    var matches = Matches(
      in: place..<buffer.count, of: self, isLineStart: isLineStart, isLineEnd: false, before: end)
    if try !isStopped && candidate(upTo: buffer.count) != nil,
      let first = try nextMatch(of: &matches)
    {
      try passOnLinesBefore(place, body)
      try passOn(first, &matches, hasStart: isLineStart, hasEnd: false, hasBreak: false, body)
      hasPartOfLine = true
      remainingAfter = after
    }
    place = max(end, matches.lastEnd)
    isLineStart = false
  }

  /// Passes on the lines of context that follow a match, up to an index.
  private mutating func passOnContext(
    upTo end: Int, _ body: (MatchedLine) throws -> Step
  ) throws {
    guard remainingAfter > 0 else { return }
    var start = max(place, passedOn)
    if hasPartOfLine {
      // The rest of a line with a match is no line of context.
      let lineEnd = lineEnd(from: start, upTo: end)
      guard lineEnd < end else { return }
      start = lineEnd + 1
      hasPartOfLine = false
    }
    while remainingAfter > 0, start < end {
      let lineEnd = lineEnd(from: start, upTo: end)
      remainingAfter -= 1
      try passOnContext(
        start..<lineEnd, hasStart: isLineStart || start > place, hasBreak: lineEnd < end, body)
      start = lineEnd + 1
    }
  }

  /// Passes on the lines of context before the line at an index.
  private mutating func passOnLinesBefore(
    _ end: Int, _ body: (MatchedLine) throws -> Step
  ) throws {
    guard before > 0, isLineStart || end > place else { return }
    var starts: [Int] = []
    var start = end
    while starts.count < before, start > passedOn, start > contextStart {
      start = lineStart(before: start - 1, downTo: contextStart)
      starts.append(start)
    }
    for start in starts.reversed() {
      try passOnContext(
        start..<lineEnd(from: start, upTo: end), hasStart: true, hasBreak: true, body)
    }
  }

  /// Passes on a line of context.
  private mutating func passOnContext(
    _ line: Range<Int>, hasStart: Bool, hasBreak: Bool, _ body: (MatchedLine) throws -> Step
  ) throws {
    begin(line, hasBreak: hasBreak)
    let end = passesText ? min(line.upperBound, line.lowerBound + Self.mostBytes) : line.lowerBound
    let isWhole = end == line.upperBound || !passesText
    try passOn(
      line.lowerBound..<end, [], hasStart: hasStart, hasEnd: isWhole, hasBreak: hasBreak && isWhole,
      continuesLine: false, body)
  }

  /// Passes on a line with matches; of a long line, the parts with matches.
  private mutating func passOn(
    _ first: Range<Int>, _ following: inout Matches, hasStart: Bool, hasEnd: Bool, hasBreak: Bool,
    _ body: (MatchedLine) throws -> Step
  ) throws {
    let line = following.line
    begin(line, hasBreak: hasBreak)
    guard passesText else {
      return try passOn(
        line.lowerBound..<line.lowerBound, Self.oneMatch, hasStart: hasStart, hasEnd: hasEnd,
        hasBreak: hasBreak, continuesLine: hasPartOfLine, body)
    }
    var next: Range<Int>? = first
    var continuesLine = hasPartOfLine
    // All of a line, also if the search ends with it.
    while let match = next {
      var start = line.lowerBound
      if line.count > Self.mostBytes { start = max(start, match.lowerBound - Self.mostBefore) }
      let end = min(line.upperBound, start + Self.mostBytes)
      var matches = [match.lowerBound - start..<min(match.upperBound, end) - start]
      next = try nextMatch(of: &following)
      while let match = next, match.upperBound <= end {
        matches.append(match.lowerBound - start..<match.upperBound - start)
        next = try nextMatch(of: &following)
      }
      try passOn(
        start..<end, matches, hasStart: hasStart && start == line.lowerBound,
        hasEnd: hasEnd && end == line.upperBound, hasBreak: hasBreak && end == line.upperBound,
        continuesLine: continuesLine, body)
      continuesLine = true
    }
  }

  private mutating func begin(_ line: Range<Int>, hasBreak: Bool) {
    countLines(upTo: line.lowerBound)
    passedOn = hasBreak ? line.upperBound + 1 : line.upperBound
  }

  private mutating func passOn(
    _ part: Range<Int>, _ matches: [Range<Int>], hasStart: Bool, hasEnd: Bool, hasBreak: Bool,
    continuesLine: Bool, _ body: (MatchedLine) throws -> Step
  ) throws {
    let step = try body(
      MatchedLine(
        bytes: Array(buffer[part]), offset: bufferOffset + Int64(part.lowerBound),
        number: numbersLines ? number : nil, matches: matches, hasStart: hasStart, hasEnd: hasEnd,
        endsWithBreak: hasBreak, continuesLine: continuesLine))
    if step == .stop { isStopped = true }
  }
}

/// A search for a sequence of bytes in a text that arrives in pieces.
public struct PiecedSearch: Sendable {
  /// What is searched.
  public let search: LiteralSearch
  /// The last bytes of the pieces, in which a match can begin.
  private var end: [UInt8] = []

  /// Whether the bytes were found.
  public private(set) var isFound = false

  /// Creates a search.
  public init(_ search: LiteralSearch) { self.search = search }

  /// Searches the next piece.
  public mutating func append(_ piece: ArraySlice<UInt8>) {
    if isFound { return }
    let most = search.text.bytes.count - 1
    end += piece.prefix(most)
    isFound =
      search.firstIndex(in: end.span) != nil || search.firstIndex(in: piece.span) != nil
    if piece.count >= most { end = Array(piece.suffix(most)) } else { end = end.suffix(most) }
  }
}

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
