import Administration
import TestSupport
import Testing

struct LineComparisonTests {
  @Test("a changed line is shown with three equal lines around it")
  func context() {
    let comparison = compare("1 2 3 4 5 6 7 8 9", "1 2 3 4 x 6 7 8 9")
    let hunks = comparison.hunks()
    #expect(hunks.map(\.first) == [1..<8])
    #expect(hunks.map(\.second) == [1..<8])
    #expect(
      hunks.first?.lines == [
        .same(1), .same(2), .same(3), .removed(4), .added(4), .same(5), .same(6), .same(7),
      ])
  }

  @Test("changes with six equal lines between them share a hunk, and with seven they do not")
  func neighbours() {
    #expect(compare("a 1 2 3 4 5 6 b", "A 1 2 3 4 5 6 B").hunks().map(\.first) == [0..<8])
    #expect(
      compare("a 1 2 3 4 5 6 7 b", "A 1 2 3 4 5 6 7 B").hunks().map(\.first) == [0..<4, 5..<9])
  }

  @Test("a line without an end differs from the same line with one")
  func lastLine() {
    let comparison = LineComparison(of: Array("a\nb".utf8), with: Array("a\nb\n".utf8))
    #expect(!comparison.isEqual)
    #expect(comparison.hunks().first?.lines == [.same(0), .removed(1), .added(1)])
  }

  @Test("lines beyond the limit are counted, and not compared")
  func limit() {
    let one = Array("a\nb\nc\nd".utf8)
    let other = Array("a\nx\n".utf8)
    let comparison = LineComparison(of: one, with: other, limit: 2)
    #expect([comparison.omitted.first, comparison.omitted.second] == [2, 0])
    #expect(comparison.hunks().map(\.lines) == [[.same(0), .removed(1), .added(1)]])
    for (text, limit, count) in [(one, 3, 1), (one + [0x0A], 3, 1), (one, 4, 0)] {
      #expect(LineComparison(of: text, with: other, limit: limit).omitted.first == count)
    }
  }

  @Test("empty texts are equal, and an empty text gains all lines of another")
  func empty() {
    #expect(LineComparison(of: [], with: []).isEqual)
    #expect(LineComparison(of: [], with: []).hunks().isEmpty)
    let hunks = LineComparison(of: [], with: Array("a\nb\n".utf8)).hunks()
    #expect(hunks.map(\.first) == [0..<0])
    #expect(hunks.map(\.lines) == [[.added(0), .added(1)]])
  }

  @Test("the hunks of random texts turn the first text into the second")
  func patching() {
    // Seeds 0..<400: few different lines make repeated lines, many make unique ones.
    for seed in 0..<400 {
      var random = SplitMix64(seed: UInt64(seed))
      let words = [2, 5, 50][seed % 3]
      let first = (0..<Int.random(in: 0..<60, using: &random)).map { _ in
        String(Int.random(in: 0..<words, using: &random))
      }
      var second = first
      for _ in 0..<Int.random(in: 0..<8, using: &random) {
        let place = Int.random(in: 0..<(second.count + 1), using: &random)
        if Int.random(in: 0..<2, using: &random) == 0 || place == second.count {
          second.insert(String(Int.random(in: 0..<words, using: &random)), at: place)
        } else {
          second.remove(at: place)
        }
      }
      let comparison = LineComparison(of: text(first), with: text(second))
      for context in [0, 1, 3] {
        #expect(patched(comparison, context) == text(second), "seed \(seed), context \(context)")
      }
    }
  }

  @Test("texts that cannot be divided take linear time")
  func hostile() {
    // No line is unique, and no two parts match at their ends.
    let first = (0..<100_000).map { $0 % 2 == 0 ? "a" : "b" }
    let second = (0..<100_000).map { $0 % 3 == 0 ? "b" : "a" }
    let comparison = LineComparison(of: text(first), with: text(second))
    #expect(patched(comparison, 3) == text(second))
  }

  private func compare(_ first: String, _ second: String) -> LineComparison {
    LineComparison(
      of: text(first.split(separator: " ").map(String.init)),
      with: text(second.split(separator: " ").map(String.init)))
  }

  private func text(_ lines: [String]) -> [UInt8] {
    lines.flatMap { Array("\($0)\n".utf8) }
  }

  /// Applies the hunks to the first text, and checks that their equal lines are equal.
  private func patched(_ comparison: LineComparison, _ context: Int) -> [UInt8] {
    var result: [ArraySlice<UInt8>] = []
    var next = 0
    for hunk in comparison.hunks(context: context) {
      result += comparison.first[next..<hunk.first.lowerBound]
      next = hunk.first.lowerBound
      for line in hunk.lines {
        switch line {
        case .same(let index):
          guard comparison.first[next] == comparison.second[index] else { return [] }
          result.append(comparison.first[next])
          next += 1
        case .removed(let index):
          guard index == next else { return [] }
          next += 1
        case .added(let index): result.append(comparison.second[index])
        }
      }
      guard next == hunk.first.upperBound else { return [] }
    }
    result += comparison.first[next...]
    return result.flatMap { $0 }
  }
}
