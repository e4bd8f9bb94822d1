/// The ids of the responses to find, grouped into runs that are read row by row.
struct RowIDSelection {
  /// The largest gap over which reading row by row is cheaper than a search for the next response.
  private static let shortestLeap: Int64 = 16

  private let numbers: [Int64]
  private var place = 0
  /// The end of the current run, as an index.
  private var endOfRun = 0

  /// Creates a list of ascending ids.
  init(_ numbers: [Int64]) {
    self.numbers = numbers
  }

  /// Returns the next id, with the range of its run if it is the first of one; `nil` after the last.
  mutating func next() -> (number: Int64, run: ClosedRange<Int64>?)? {
    guard place < numbers.count else { return nil }
    let number = numbers[place]
    var run: ClosedRange<Int64>?
    if place == endOfRun {
      run = number...moveToEndOfRun()
    }
    place += 1
    return (number, run)
  }

  /// Finds the end of the run that begins here, and returns its last id.
  private mutating func moveToEndOfRun() -> Int64 {
    var last = numbers[place]
    endOfRun = place + 1
    while endOfRun < numbers.count {
      // The ids come from a database, where one can be the smallest and the next the largest
      // number.
      let (gap, overflow) = numbers[endOfRun].subtractingReportingOverflow(last)
      guard !overflow, gap <= Self.shortestLeap else { break }
      last = numbers[endOfRun]
      endOfRun += 1
    }
    return last
  }
}
