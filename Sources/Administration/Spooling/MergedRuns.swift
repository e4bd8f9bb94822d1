import Files

/// Sorted lists that are read as one.
struct MergedRuns<Element: Spoolable> {
  /// A list with its next value.
  private struct Front {
    var element: Element
    var rest: SpooledList<Element>.Reader
    /// The place among the lists.
    let number: Int
  }

  private let precedes: (Element, Element) -> Bool
  /// The lists that are not at their end: a heap, in which none comes before the one at half its index.
  private var fronts: [Front] = []
  /// The last list, in memory, in reverse.
  private var last: [Element]

  /// - Parameters:
  ///   - runs: The sorted lists.
  ///   - last: One more, in memory.
  init(
    _ runs: [SpooledList<Element>], _ last: [Element],
    by precedes: @escaping (Element, Element) -> Bool
  ) throws(FileError) {
    self.precedes = precedes
    self.last = last.reversed()
    for (number, run) in runs.enumerated() {
      var rest = run.makeReader()
      if let element = try rest.next() {
        fronts.append(Front(element: element, rest: rest, number: number))
      }
    }
    fronts = fronts.sorted { comesFirst($0, $1) }
  }

  /// Removes and returns the next value; `nil` at the end.
  mutating func next() throws(FileError) -> Element? {
    guard !fronts.isEmpty else { return last.popLast() }
    if let next = last.last, precedes(next, fronts[0].element) { return last.popLast() }
    let element = fronts[0].element
    if let next = try fronts[0].rest.next() {
      fronts[0].element = next
    } else {
      // The last one takes its place.
      fronts.swapAt(0, fronts.count - 1)
      fronts.removeLast()
    }
    sink()
    return element
  }

  /// Moves the first front down to its place in the heap.
  private mutating func sink() {
    var place = 0
    while true {
      var first = place
      for child in [2 * place + 1, 2 * place + 2]
      where child < fronts.count && comesFirst(fronts[child], fronts[first]) { first = child }
      if first == place { return }
      fronts.swapAt(place, first)
      place = first
    }
  }

  private func comesFirst(_ front: Front, _ other: Front) -> Bool {
    if precedes(front.element, other.element) { return true }
    // Equal values in the order of their lists.
    return front.number < other.number && !precedes(other.element, front.element)
  }
}
