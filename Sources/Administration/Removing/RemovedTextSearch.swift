import Bytes
import Matching

/// A search for the texts of a ``RemovedTexts``, which have numbers.
struct RemovedTextSearch: Sendable {
  /// Looks for the longer texts, whose numbers come before those of the others.
  private var long: TextSetSearch
  private let longCount: Int
  private let short: [LiteralSearch]
  private let shortLengths: [Int]
  /// Whether each shorter text is looked for.
  private var isWanted: [Bool]

  init(for texts: RemovedTexts) {
    long = TextSetSearch(texts.long)
    longCount = texts.long.count
    let sorted = texts.short.sorted()
    short = sorted.map { LiteralSearch($0) }
    shortLengths = sorted.map(\.bytes.count)
    isWanted = sorted.map { _ in true }
  }

  /// The number of texts that are looked for.
  var count: Int { long.count + isWanted.count { $0 } }

  /// Looks for these texts from now on, and for no others.
  mutating func look(for numbers: [Int]) {
    isWanted = isWanted.map { _ in false }
    for number in numbers where number >= longCount { isWanted[number - longCount] = true }
    long.look(for: numbers.lazy.filter { [longCount] in $0 < longCount })
  }

  /// Calls `found` with each occurrence of each text.
  mutating func forEachMatch(
    in bytes: Span<UInt8>, _ found: (_ number: Int, _ place: Range<Int>) -> TextSetSearch.Interest
  ) {
    long.forEachMatch(in: bytes, found)
    for index in short.indices where isWanted[index] {
      var start = 0
      while let place = short[index].firstIndex(in: bytes, from: start) {
        if found(longCount + index, place..<place + shortLengths[index]) == .drop {
          isWanted[index] = false
          break
        }
        start = place + 1
      }
    }
  }
}
