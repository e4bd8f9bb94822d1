/// Where texts of removed entries are in a file.
struct TextPlaces: Sendable {
  /// The places of a text.
  private struct Places: Sendable {
    var count: Int64
    var first: Int64
  }

  /// How often a text is counted.
  private let mostCounted: Int64
  /// The places by the numbers of the texts.
  private var places: [Int: Places] = [:]

  /// Creates an empty collection.
  init(upTo mostCounted: Int64) { self.mostCounted = mostCounted }

  /// Whether no text was found.
  var isEmpty: Bool { places.isEmpty }

  /// The numbers of the texts that were found.
  var numbers: some Sequence<Int> { places.keys }

  /// Whether a text was found as often as it is counted.
  func isFull(_ number: Int) -> Bool {
    (places[number]?.count ?? 0) >= mostCounted
  }

  /// Adds an occurrence of a text.
  mutating func insert(_ number: Int, at offset: Int64) {
    insert(Places(count: 1, first: offset), of: number)
  }

  /// Adds what was found in another part of the file.
  mutating func merge(_ other: TextPlaces) {
    for (number, places) in other.places { insert(places, of: number) }
  }

  private mutating func insert(_ other: Places, of number: Int) {
    let known = places[number] ?? Places(count: 0, first: .max)
    places[number] = Places(
      count: min(known.count + other.count, mostCounted),
      first: min(known.first, other.first))
  }

  /// Returns how often the texts that fulfil a condition were found, whether they can be there more often, and where the
  /// first one begins; `nil` if none was found.
  func traces(
    where isTrace: (_ number: Int) -> Bool
  ) -> (count: Int64, isLowerBound: Bool, first: Int64)? {
    let traces = places.filter { isTrace($0.key) }.values
    guard let first = traces.lazy.map(\.first).min() else { return nil }
    return (
      traces.reduce(0) { $0 + $1.count }, traces.contains { $0.count >= mostCounted }, first
    )
  }
}
