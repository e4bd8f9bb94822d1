import Bytes
import Matching
import Testing

@Suite struct TextSetSearchTests {
  /// An occurrence of a text.
  private struct Match: Hashable, Comparable {
    let index: Int
    let start: Int

    static func < (one: Match, other: Match) -> Bool {
      (one.index, one.start) < (other.index, other.start)
    }
  }

  private func matches(_ texts: [[UInt8]], in bytes: [UInt8]) -> [Match] {
    var matches: [Match] = []
    var search = search(texts)
    search.forEachMatch(in: bytes.span) {
      matches.append(Match(index: $0, start: $1.lowerBound))
      #expect($1.count == texts[$0].count)
      return .keep
    }
    return matches.sorted()
  }

  private func search(_ texts: [[UInt8]]) -> TextSetSearch {
    var set = TextSet()
    for text in texts { _ = set.insert(text.span) }
    #expect(set.count == texts.count)
    return TextSetSearch(set)
  }

  /// Returns all occurrences, by comparing at each position.
  private func naive(_ texts: [[UInt8]], in bytes: [UInt8]) -> [Match] {
    var matches: [Match] = []
    for (index, text) in texts.enumerated() where text.count <= bytes.count {
      for start in 0...(bytes.count - text.count) where bytes[start...].starts(with: text) {
        matches.append(Match(index: index, start: start))
      }
    }
    return matches.sorted()
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `every occurrence of every text is found once, and nothing else`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<50 {
      // Texts are cut from the bytes, and some of them changed at one place.
      let letters = Array("ab".utf8)
      let bytes = (0..<Int.random(in: 60...400, using: &random)).map { _ in
        letters.randomElement(using: &random)!
      }
      let texts = (0..<Int.random(in: 1...30, using: &random)).map { _ in
        let count = Int.random(in: TextSet.leastBytes...50, using: &random)
        let start = Int.random(in: 0...(bytes.count - count), using: &random)
        var text = Array(bytes[start..<start + count])
        if Bool.random(using: &random) {
          text[Int.random(in: 0..<count, using: &random)] = UInt8(ascii: "c")
        }
        return text
      }
      let distinct = Array(Set(texts)).sorted { $0.lexicographicallyPrecedes($1) }
      #expect(matches(distinct, in: bytes) == naive(distinct, in: bytes), "\(distinct)")
    }
  }

  @Test func `texts that begin and end alike are told apart`() {
    let texts = (0..<2_000).map {
      Array("https://example.com/a/\($0)/the-same-long-name.json".utf8)
    }
    let bytes: [UInt8] = texts.reversed().flatMap { text in text + [0 as UInt8] }
    let found = matches(texts, in: bytes)
    #expect(found.count == 2_000)
    #expect(found == naive(Array(texts.prefix(3)), in: bytes) + found.dropFirst(3))
  }

  @Test(.timeLimit(.minutes(1)))
  func `texts that differ far from both ends are told apart`() {
    let same = String(repeating: "the-same/", count: 25)
    // Before the window was chosen from the whole text, so many took minutes.
    let texts = (0..<100_000).map { Array("\(same)\(1_000_000 + $0)?\(same)".utf8) }
    #expect(matches(texts, in: texts[70_000] + texts[7]).map(\.index) == [7, 70_000])
  }

  @Test func `a text is in a set once`() {
    var set = TextSet()
    let text = Array("123456789012345".utf8)
    let other = Array("123456789012346".utf8)
    #expect([text, other, text].map { set.insert($0.span) } == [true, true, false])
    #expect(set.count == 2)
  }

  @Test func `a dropped text is not found again until it is looked for again`() {
    let texts = (0..<100).map { Array("https://example.com/\(1_000 + $0)".utf8) }
    let bytes: [UInt8] = texts.flatMap { $0 + $0 }
    var search = search(texts)
    func count(_ interest: (Int) -> TextSetSearch.Interest) -> [Int: Int] {
      var counts: [Int: Int] = [:]
      search.forEachMatch(in: bytes.span) { number, _ in
        counts[number, default: 0] += 1
        return interest(number)
      }
      return counts
    }
    // Enough are dropped that the table is built again.
    var counts = count { $0 < 90 ? .drop : .keep }
    #expect(counts == Dictionary(uniqueKeysWithValues: (0..<100).map { ($0, $0 < 90 ? 1 : 2) }))
    #expect(search.count == 10)
    counts = count { _ in .keep }
    #expect(counts == Dictionary(uniqueKeysWithValues: (90..<100).map { ($0, 2) }))
    search.look(for: [3, 95])
    counts = count { _ in .keep }
    #expect(counts == [3: 2, 95: 2])
  }

  @Test func `no texts, and bytes shorter than a text, have no matches`() {
    #expect(matches([], in: Array(repeating: 0, count: 100)).isEmpty)
    #expect(matches([Array("123456789012345".utf8)], in: Array("12345678901234".utf8)).isEmpty)
    #expect(matches([Array("123456789012345".utf8)], in: []).isEmpty)
  }
}
