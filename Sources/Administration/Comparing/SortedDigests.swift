import Bytes
import Files
import ResponseStorage

/// Sorts any number of digests. Memory does not grow with their number: sorted runs are kept in an unlinked file.
struct SortedDigests {
  /// A digest with the id of its entry.
  struct Item {
    let digest: ContentDigest
    let id: Int64

    /// The number of bytes of an item in a file.
    fileprivate static let length = 24
  }

  private let temporaryFolder: String
  private let runLength: Int
  private var run: [Item] = []
  private var file: RunFile?
  private var runs: [Range<Int64>] = []

  /// - Parameters:
  ///   - temporaryFolder: The folder for the sorted runs.
  ///   - runLength: The number of digests that are sorted in memory.
  init(temporaryFolder: String, runLength: Int = 1 << 18) {
    self.temporaryFolder = temporaryFolder
    self.runLength = runLength
  }

  /// Adds a digest.
  mutating func append(_ item: Item) throws(FileError) {
    if run.count == runLength { try endRun() }
    run.append(item)
  }

  /// Ends the collection, and returns the digests in order.
  mutating func merged() throws -> MergedDigests {
    guard let file else {
      sortRun()
      return try MergedDigests([], of: nil, and: run)
    }
    if !run.isEmpty { try endRun() }
    run = []
    return try MergedDigests(runs, of: file, and: [])
  }

  private mutating func sortRun() {
    run.sort { $0.digest < $1.digest }
  }

  private mutating func endRun() throws(FileError) {
    sortRun()
    if file == nil { file = RunFile(try TemporaryFile(in: temporaryFolder)) }
    guard let file else { return }
    let start = file.file.size
    var bytes: [UInt8] = []
    for item in run {
      bytes.append(word: item.digest.high)
      bytes.append(word: item.digest.low)
      bytes.append(word: UInt64(bitPattern: item.id))
      if bytes.count >= 1 << 16 {
        try file.file.append(bytes)
        bytes.removeAll(keepingCapacity: true)
      }
    }
    try file.file.append(bytes)
    runs.append(start..<file.file.size)
    run.removeAll(keepingCapacity: true)
  }

  /// An unnamed file that several runs share.
  fileprivate final class RunFile {
    var file: TemporaryFile

    init(_ file: consuming TemporaryFile) { self.file = file }
  }
}

/// Sorted runs of digests, merged on demand.
struct MergedDigests {
  private var runs: [Run] = []

  fileprivate init(
    _ places: [Range<Int64>], of file: SortedDigests.RunFile?, and last: [SortedDigests.Item]
  ) throws {
    for place in places {
      let run = try Run(file: file, place: place)
      if run.first != nil { runs.append(run) }
    }
    if !last.isEmpty { runs.append(Run(of: last)) }
  }

  /// Removes and returns the next digest; `nil` at the end.
  mutating func next() throws -> SortedDigests.Item? {
    // A linear search: ten million entries have forty runs.
    var best: Int?
    for index in runs.indices {
      if let known = best, let first = runs[index].first, let other = runs[known].first,
        !(first.digest < other.digest)
      {
        continue
      }
      best = index
    }
    guard let best, let item = runs[best].first else { return nil }
    try runs[best].advance()
    if runs[best].first == nil { runs.remove(at: best) }
    return item
  }

  /// Reads one run.
  private struct Run {
    private let file: SortedDigests.RunFile?
    /// The range of the file that was not read yet.
    private var place: Range<Int64>
    private var items: [SortedDigests.Item] = []
    private var index = 0

    /// A run in a file.
    init(file: SortedDigests.RunFile?, place: Range<Int64>) throws(FileError) {
      (self.file, self.place) = (file, place)
      try fill()
    }

    /// A run in memory.
    init(of items: [SortedDigests.Item]) {
      (file, place, self.items) = (nil, 0..<0, items)
    }

    /// The next digest; `nil` at the end.
    var first: SortedDigests.Item? { index < items.count ? items[index] : nil }

    mutating func advance() throws(FileError) {
      index += 1
      if index == items.count { try fill() }
    }

    private mutating func fill() throws(FileError) {
      guard let file, !place.isEmpty else { return }
      let length = SortedDigests.Item.length
      var bytes: [UInt8] = []
      let wanted = min(2_048 * length, place.count)
      while bytes.count < wanted {
        var buffer = [UInt8](repeating: 0, count: wanted - bytes.count)
        let offset = place.lowerBound + Int64(bytes.count)
        let count = try file.file.read(into: &buffer, at: offset)
        if count == 0 { break }
        bytes += buffer[..<count]
      }
      place = (place.lowerBound + Int64(wanted))..<place.upperBound
      items.removeAll(keepingCapacity: true)
      index = 0
      for start in stride(from: 0, to: bytes.count - length + 1, by: length) {
        let numbers = (0..<3).map { number -> UInt64 in
          bytes[(start + 8 * number)..<(start + 8 * number + 8)].reversed()
            .reduce(0) { $0 << 8 | UInt64($1) }
        }
        items.append(
          .init(
            digest: ContentDigest(high: numbers[0], low: numbers[1]),
            id: Int64(bitPattern: numbers[2])))
      }
    }
  }
}
