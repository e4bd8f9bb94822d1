/// Numbers of responses that a walk is to find, in runs in which it pays to walk from one to the next.
struct WantedNumbers {
  /// Across so many numbers it is less work to walk than to look for the next response.
  private static let shortestLeap: Int64 = 16

  private let numbers: [Int64]
  private var place = 0
  /// Where the run ends that the walk is in.
  private var endOfRun = 0

  /// Creates a list of numbers that ascend.
  init(_ numbers: [Int64]) {
    self.numbers = numbers
  }

  /// The next number, with the range of the run that begins with it if one does; `nil` after the last.
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

  /// Looks for the end of the run that begins here, and returns its last number.
  private mutating func moveToEndOfRun() -> Int64 {
    var last = numbers[place]
    endOfRun = place + 1
    while endOfRun < numbers.count {
      let (gap, overflow) = numbers[endOfRun].subtractingReportingOverflow(last)
      guard !overflow, gap <= Self.shortestLeap else { break }
      last = numbers[endOfRun]
      endOfRun += 1
    }
    return last
  }
}
