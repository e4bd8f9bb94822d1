import Bytes
@testable import Matching
import Testing

@Suite struct LineSearchTests {
  /// Returns the lines that a search passes on, for a text in pieces.
  private func lines(
    _ pieces: [ArraySlice<UInt8>], _ pattern: TextPattern, before: Int = 0, after: Int = 0,
    longestLine: Int = 1 << 20
  ) throws -> [MatchedLine] {
    var search = LineSearch(pattern, before: before, after: after, longestLine: longestLine)
    var found: [MatchedLine] = []
    let collect = { (line: MatchedLine) -> LineSearch.Step in
      found.append(line)
      return .next
    }
    for piece in pieces { try search.append(piece, collect) }
    try search.finish(collect)
    return found
  }

  /// Returns a text in pieces of `size` bytes.
  private func pieces(_ text: [UInt8], of size: Int) -> [ArraySlice<UInt8>] {
    stride(from: 0, to: text.count, by: size).map { text[$0..<min($0 + size, text.count)] }
  }

  /// Finds lines by splitting the text, and matches by trying each position.
  private func naive(
    _ text: [UInt8], _ pattern: String, before: Int, after: Int
  ) -> [MatchedLine] {
    var offset: Int64 = 0
    var all: [MatchedLine] = []
    let parts = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, part) in parts.enumerated() where index < parts.count - 1 || !part.isEmpty {
      var line = MatchedLine(
        bytes: Array(part), offset: offset, number: Int64(index + 1),
        endsWithBreak: index < parts.count - 1)
      var place = 0
      while place < line.bytes.count {
        if line.bytes[place...].starts(with: pattern.utf8) {
          line.matches.append(place..<place + pattern.utf8.count)
          place += pattern.utf8.count
        } else {
          place += 1
        }
      }
      all.append(line)
      offset += Int64(part.count + 1)
    }
    return all.indices.filter { index in
      let near = max(0, index - after)...min(all.count - 1, index + before)
      return near.contains { !all[$0].matches.isEmpty }
    }.map { all[$0] }
  }

  @Test(arguments: 0..<30 as Range<UInt64>)
  func `each line with a match is found, wherever pieces end`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let letters = Array("aab\n".utf8)
    for wanted in ["a", "ab", "aba", "bb"] {
      let text = (0..<Int.random(in: 0...80, using: &random)).map { _ in
        letters.randomElement(using: &random)!
      }
      let (before, after) = (
        Int.random(in: 0...2, using: &random), Int.random(in: 0...2, using: &random)
      )
      let correct = naive(text, wanted, before: before, after: after)
      // The same pattern as literal text, as an expression with and without a known byte, and in any case.
      let patterns = [
        try TextPattern(wanted), try TextPattern(wanted, isExpression: true),
        try TextPattern("(?:\(wanted)|\(wanted))", isExpression: true),
        try TextPattern(wanted.uppercased(), ignoresCase: true),
      ]
      for pattern in patterns {
        for size in 1...max(text.count, 1) {
          let found = try lines(pieces(text, of: size), pattern, before: before, after: after)
          #expect(found == correct, "\(pattern.text) \(size) \(before) \(after) \(text)")
        }
      }
    }
  }

  @Test(arguments: 0..<30 as Range<UInt64>)
  func `a literal is found across the parts of a long line`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let letters = Array("aaab\n".utf8)
    for wanted in ["ab", "aab", "baa"] {
      let text = (0..<200).map { index in
        index % 70 == 69 ? UInt8(ascii: "\n") : letters.dropLast().randomElement(using: &random)!
      }
      let correct = naive(text, wanted, before: 0, after: 0)
      for size in [1, 3, 7, 50, 200] {
        let found = try lines(pieces(text, of: size), TextPattern(wanted), longestLine: 16)
        let offsets = { (lines: [MatchedLine]) in
          lines.flatMap { line in line.matches.map { line.offset + Int64($0.lowerBound) } }
        }
        #expect(offsets(found) == offsets(correct), "\(wanted) \(size) \(text)")
        #expect(found.count { !$0.continuesLine } == correct.count)
        #expect(Set(found.map(\.number)) == Set(correct.map(\.number)))
      }
    }
  }

  @Test(arguments: [20_000, 200_000, 700_000])
  func `a line that matches at each byte is passed on in parts`(count: Int) throws {
    let text = [UInt8](repeating: UInt8(ascii: "a"), count: count)
    let found = try lines(
      pieces(text, of: 1 << 16), TextPattern("a"), longestLine: LineSearch.longestLine)
    #expect(found.allSatisfy { $0.bytes.count <= LineSearch.mostBytes })
    #expect(found.count { !$0.continuesLine } == 1)
    let places = found.flatMap { line in line.matches.map { line.offset + Int64($0.lowerBound) } }
    #expect(places == (0..<Int64(count)).map { $0 })
  }

  @Test func `a line is counted once, whatever its length and the context`() throws {
    let long = String(repeating: "y", count: 700_000)
    for (text, pattern, count) in [
      ("needle\(long)needle\nfoo\nneedle\nbar", try TextPattern("needle"), 2),
      ("needle\(long)\nfoo\nneedle\nbar", try TextPattern("needle"), 2),
      ("x\(long)\nx2\nx3", try TextPattern("x.*", isExpression: true), 3),
    ] {
      for (before, after) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        let found = try lines(
          pieces(Array(text.utf8), of: 1 << 16), pattern, before: before, after: after,
          longestLine: LineSearch.longestLine)
        #expect(found.count { !$0.matches.isEmpty && !$0.continuesLine } == count)
      }
    }
  }

  @Test func `a search that ends with a line has all of its matches`() throws {
    var search = LineSearch(try TextPattern("a"))
    var count = 0
    for piece in pieces(Array(repeating: UInt8(ascii: "a"), count: 100_000), of: 1 << 16) {
      try search.append(piece) { line in
        count += line.matches.count
        return .stop
      }
    }
    try search.finish { line in
      count += line.matches.count
      return .stop
    }
    #expect(count == 100_000)
  }

  @Test func `one match is found at each offset around the end of a piece`() throws {
    let size = 1 << 16
    for offset in (size - 12)...(size + 2) {
      var text = [UInt8](repeating: UInt8(ascii: "x"), count: 2 * size)
      for index in stride(from: 100, to: text.count, by: 100) { text[index] = UInt8(ascii: "\n") }
      text.replaceSubrange(offset..<offset + 11, with: "needle here".utf8)
      for pattern in [
        try TextPattern("needle here"), try TextPattern("n[e]+dle\\s+here", isExpression: true),
        try TextPattern("NEEDLE HERE", ignoresCase: true),
      ] {
        let found = try lines(pieces(text, of: size), pattern)
        #expect(found.map { $0.offset + Int64($0.matches[0].lowerBound) } == [Int64(offset)])
      }
    }
  }

  @Test func `words and line ends are those of the line`() throws {
    let text = Array("foobar foo\nfoo\nxfoo foo-bar\n\u{e9}foo\nfoo".utf8)
    func numbers(_ pattern: TextPattern) throws -> [Int64?] {
      try lines(pieces(text, of: 5), pattern).map(\.number)
    }
    #expect(try numbers(TextPattern("foo", matchesWords: true)) == [1, 2, 3, 5])
    #expect(try numbers(TextPattern("FOO", ignoresCase: true, matchesWords: true)) == [1, 2, 3, 5])
    #expect(
      try numbers(TextPattern("fo+", isExpression: true, matchesWords: true)) == [1, 2, 3, 5])
    #expect(try numbers(TextPattern("^foo$", isExpression: true)) == [2, 5])
    #expect(try numbers(TextPattern("foo(?!\\s)", isExpression: true)) == [1, 2, 3, 4, 5])
    #expect(try numbers(TextPattern("foo\\s", isExpression: true)) == [3])
    #expect(try numbers(TextPattern("\\Afoo\\z", isExpression: true)) == [2, 5])
    #expect(try numbers(TextPattern("(?s)o.f", isExpression: true)) == [3])
    #expect(try numbers(TextPattern("(?i)FOO", isExpression: true)) == [1, 2, 3, 4, 5])
    #expect(try numbers(TextPattern("x*", isExpression: true)) == [1, 2, 3, 4, 5])
  }

  @Test func `a match may look back into the part before`() throws {
    let text = Array(
      (String(repeating: "a", count: 24) + " foo " + String(repeating: "b", count: 40)).utf8)
    for pattern in ["(?<=a )foo", "\\bfoo\\b"] {
      let found = try lines(
        pieces(text, of: 1), TextPattern(pattern, isExpression: true), longestLine: 16)
      #expect(
        found.flatMap { line in line.matches.map { line.offset + Int64($0.lowerBound) } } == [25])
    }
    // No part begins or ends a line.
    let ends = try lines(
      pieces(text, of: 1), TextPattern("^b|a$", isExpression: true), longestLine: 16)
    #expect(ends == [])
  }

  @Test func `a search that is stopped passes on only the context`() throws {
    var search = LineSearch(try TextPattern("a"), before: 0, after: 1, longestLine: 1 << 20)
    var found: [String] = []
    for piece in ["a1\n", "a2\na3\nb\n", "a4\n"] {
      try search.append(Array(piece.utf8)[...]) { line in
        found.append(String(decoding: line.bytes, as: UTF8.self))
        return found.count == 2 ? .stop : .next
      }
    }
    #expect(found == ["a1", "a2", "a3"] && search.isStopped)
  }

  @Test func `a long line is passed on in parts around its matches`() throws {
    var text = [UInt8](repeating: UInt8(ascii: "x"), count: 900_000)
    for offset in [0, 200_000, 200_010, 899_997] {
      text.replaceSubrange(offset..<offset + 3, with: "abc".utf8)
    }
    let found = try lines(pieces(text, of: 1 << 16), TextPattern("abc"))
    #expect(found.map { $0.matches.count } == [1, 2, 1])
    #expect(found.map(\.continuesLine) == [false, true, true])
    for line in found {
      #expect(line.bytes.count <= 1 << 16)
      for match in line.matches { #expect(Array(line.bytes[match]) == Array("abc".utf8)) }
    }
  }

  @Test func `invalid patterns are refused`() {
    #expect(throws: TextPattern.Failure.empty) { try TextPattern("") }
    #expect(throws: TextPattern.Failure.lineBreak) { try TextPattern("a\nb") }
    #expect(
      throws: TextPattern.Failure.syntax(
        .init(reason: "missing closing parenthesis", offset: 2, character: 3))
    ) {
      try TextPattern("a(", isExpression: true)
    }
    // As literal text it is valid.
    #expect(throws: Never.self) { try TextPattern("a(") }
  }
}
