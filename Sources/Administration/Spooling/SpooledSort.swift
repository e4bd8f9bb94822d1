public import Files
public import ResponseStorage

/// Sorts any number of values. Memory does not grow with their number: sorted runs are kept in an unnamed file.
///
/// Values of which none precedes the other keep their order.
///
/// - Complexity: O(*n* log *n*), where *n* is the number of values.
struct SpooledSort<Element: Spoolable> {
  private let folder: String
  private let runLength: Int
  private let precedes: (Element, Element) -> Bool
  /// The current run.
  private var run: [Element] = []
  private var textBytes = 0
  /// The earlier runs, each sorted.
  private var runs: [SpooledList<Element>] = []
  private var file: SpoolFile?

  /// The bytes of texts that are sorted in memory.
  private static var mostTextBytes: Int { 16 << 20 }

  /// - Parameters:
  ///   - folder: The folder for an unnamed file, which many values need.
  ///   - runLength: The number of values that are sorted in memory.
  ///   - precedes: Whether the first value comes before the second.
  init(
    in folder: String, runLength: Int = 1 << 16, by precedes: @escaping (Element, Element) -> Bool
  ) {
    (self.folder, self.runLength, self.precedes) = (folder, runLength, precedes)
  }

  /// Adds a value.
  mutating func insert(_ element: Element) throws(FileError) {
    if run.count >= runLength || textBytes >= Self.mostTextBytes { try endRun() }
    run.append(element)
    textBytes += element.textBytes
  }

  /// Adds values that are sorted already.
  mutating func insert(sorted list: SpooledList<Element>) throws(FileError) {
    if !run.isEmpty { try endRun() }
    if !list.isEmpty { runs.append(list) }
  }

  /// Removes all values, and returns them in order.
  mutating func removeAll() throws(FileError) -> MergedRuns<Element> {
    run.sort(by: precedes)
    let merged = try MergedRuns(runs, run, by: precedes)
    (run, runs, file, textBytes) = ([], [], nil, 0)
    return merged
  }

  private mutating func endRun() throws(FileError) {
    run.sort(by: precedes)
    if file == nil { file = try SpoolFile(in: folder) }
    guard let file else { return }
    var writer = SpooledList<Element>.Writer(to: file, in: folder)
    for element in run { try writer.append(element) }
    runs.append(try writer.finish())
    run.removeAll(keepingCapacity: true)
    textBytes = 0
  }
}

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

/// The ids of entries, sorted by their places. Memory does not grow with their number.
public struct SortedIDs {
  private var places: SpooledSort<EntryPlace>
  private var sorted: MergedRuns<EntryPlace>?

  /// Creates an empty list.
  ///
  /// - Parameters:
  ///   - isDescending: Whether the largest value comes first.
  ///   - temporaryFolder: The folder for an unnamed file, which many entries need.
  public init(isDescending: Bool, temporaryFolder: String) {
    places = SpooledSort(in: temporaryFolder) { $0.precedes($1, isDescending: isDescending) }
  }

  /// Adds an entry. Not possible once ids were removed.
  public mutating func insert(_ place: EntryPlace) throws(FileError) { try places.insert(place) }

  /// Removes and returns the ids of the next entries in order; fewer at the end.
  public mutating func removeFirst(_ count: Int) throws(FileError) -> [StoredResponse.ID] {
    if sorted == nil { sorted = try places.removeAll() }
    var ids: [StoredResponse.ID] = []
    while ids.count < count, let place = try sorted?.next() { ids.append(place.id) }
    return ids
  }
}
