import Files

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
