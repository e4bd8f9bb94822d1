import Files

/// Sorts any number of lines by their bytes.
///
/// Memory use does not grow with the number of lines: sorted runs are kept in an unlinked file and merged.
struct SortedLines: ~Copyable {
  /// The lines of the current run.
  private var lines: [[UInt8]] = []
  private var lineBytes = 0
  private var runs: [Range<Int64>] = []
  private var file: TemporaryFile
  private let runSize: Int

  /// - Parameters:
  ///   - temporaryFolder: The folder for the sorted runs.
  ///   - runSize: The number of bytes that are sorted in memory.
  init(temporaryFolder: String, runSize: Int = 8 << 20) throws(FileError) {
    file = try TemporaryFile(in: temporaryFolder)
    self.runSize = runSize
  }

  /// Adds a line, given without its line feed.
  mutating func append(_ line: [UInt8]) throws(FileError) {
    lines.append(line)
    lineBytes += line.count
    if lineBytes >= runSize { try endRun() }
  }

  private mutating func endRun() throws(FileError) {
    let start = file.size
    // CDXJ readers search by bisection over bytes, as `LC_ALL=C sort` orders them. `String` would
    // compare by Unicode.
    lines.sort { $0.lexicographicallyPrecedes($1) }
    var bytes: [UInt8] = []
    for line in lines {
      bytes += line + [0x0A]
      if bytes.count >= 1 << 16 {
        try file.append(bytes)
        bytes.removeAll(keepingCapacity: true)
      }
    }
    try file.append(bytes)
    runs.append(start..<file.size)
    lines.removeAll(keepingCapacity: true)
    lineBytes = 0
  }

  /// Calls `body` with each line, including its line feed, in sorted order.
  mutating func forEach(_ body: ([UInt8]) throws -> Void) throws {
    try endRun()
    var fronts: [(line: [UInt8], run: LineRun)] = []
    for run in runs {
      var run = LineRun(place: run)
      if let line = try run.next(file) { fronts.append((line, run)) }
    }
    // A linear search: with 8 MiB in each run, even an index of a million lines has few runs.
    while let first = fronts.indices.min(by: {
      fronts[$0].line.lexicographicallyPrecedes(fronts[$1].line)
    }) {
      try body(fronts[first].line)
      if let line = try fronts[first].run.next(file) {
        fronts[first].line = line
      } else {
        fronts.remove(at: first)
      }
    }
  }
}

/// Reads the lines of one run.
private struct LineRun {
  /// The range of the file that was not read yet.
  var place: Range<Int64>

  private var unread: ArraySlice<UInt8> = []

  init(place: Range<Int64>) {
    self.place = place
  }

  /// Returns the next line, including its line feed; `nil` at the end.
  mutating func next(_ file: borrowing TemporaryFile) throws(FileError) -> [UInt8]? {
    var line: [UInt8] = []
    while true {
      if let end = unread.firstIndex(of: 0x0A) {
        line += unread[...end]
        unread = unread[(end + 1)...]
        return line
      }
      line += unread
      var buffer = [UInt8](repeating: 0, count: min(1 << 16, place.count))
      if buffer.isEmpty { return line.isEmpty ? nil : line }
      let count = try file.read(into: &buffer, at: place.lowerBound)
      if count == 0 { return line.isEmpty ? nil : line }
      place = (place.lowerBound + Int64(count))..<place.upperBound
      unread = buffer[..<count]
    }
  }
}
