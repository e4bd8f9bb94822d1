import Bytes
import Files

/// Sorts any number of fingerprints by their keys; those with the same key keep their order.
///
/// Memory does not grow with their number: sorted runs are kept in an unlinked file, and merged.
final class SortedFingerprints {
  private let temporaryFolder: String
  private let runLength: Int

  /// The current run.
  private var run: [EntryFingerprint] = []
  private var length = 0

  /// The earlier runs, each sorted; there is a file only if there are any.
  private var file: RunFile?
  private var runs: [Range<Int64>] = []

  /// - Parameters:
  ///   - temporaryFolder: The folder for the sorted runs.
  ///   - runLength: The number of bytes that are sorted in memory.
  init(temporaryFolder: String, runLength: Int = 8 << 20) {
    self.temporaryFolder = temporaryFolder
    self.runLength = runLength
  }

  /// Adds a fingerprint.
  func append(_ print: EntryFingerprint) throws(FileError) {
    run.append(print)
    length += print.length
    if length >= runLength { try endRun() }
  }

  private func endRun() throws(FileError) {
    if file == nil { file = RunFile(try TemporaryFile(in: temporaryFolder)) }
    guard let file else { return }
    let start = file.file.size
    var bytes: [UInt8] = []
    for print in sortedRun() {
      print.append(to: &bytes)
      if bytes.count >= 1 << 16 {
        try file.file.append(bytes)
        bytes.removeAll(keepingCapacity: true)
      }
    }
    try file.file.append(bytes)
    runs.append(start..<file.file.size)
    length = 0
  }

  private func sortedRun() -> [EntryFingerprint] {
    // Indices, because a sort that moves whole fingerprints is slower, and to keep the order of those with equal keys.
    let order = run.indices.sorted {
      run[$0].key == run[$1].key ? $0 < $1 : run[$0].key < run[$1].key
    }
    defer { run = [] }
    return order.map { run[$0] }
  }

  /// Ends the collection, and returns the fingerprints in order.
  func merged() throws -> MergedFingerprints {
    if file != nil, !run.isEmpty { try endRun() }
    return try MergedFingerprints(runs, of: file, and: sortedRun())
  }

  /// An unnamed file with several readers.
  final class RunFile {
    fileprivate(set) var file: TemporaryFile

    init(_ file: consuming TemporaryFile) { self.file = file }
  }
}

/// Sorted runs of fingerprints, merged on demand.
struct MergedFingerprints {
  /// The runs that are not at their end, in the order of their fingerprints in the store, with their next ones.
  private var fronts: [(print: EntryFingerprint, run: Run)] = []

  fileprivate init(
    _ runs: [Range<Int64>], of file: SortedFingerprints.RunFile?, and last: [EntryFingerprint]
  ) throws {
    var all = runs.map { Run(file: file, place: $0) }
    all.append(Run(file: nil, place: 0..<0, prints: last[...]))
    for var run in all {
      if let print = try run.next() { fronts.append((print, run)) }
    }
  }

  /// The next key; `nil` at the end.
  var key: ByteString? { first.map { fronts[$0].print.key } }

  /// Returns all fingerprints with a key that is the next one, in their order in the store.
  mutating func removeAll(of key: ByteString) throws -> [EntryFingerprint] {
    var prints: [EntryFingerprint] = []
    while let first, fronts[first].print.key == key {
      prints.append(fronts[first].print)
      if let next = try fronts[first].run.next() {
        fronts[first].print = next
      } else {
        fronts.remove(at: first)
      }
    }
    return prints
  }

  /// The index of the first run that has the next key.
  // A linear search: with 8 MiB in each run, a million entries have few runs.
  private var first: Int? {
    var first: Int?
    for index in fronts.indices {
      if let best = first, !(fronts[index].print.key < fronts[best].print.key) { continue }
      first = index
    }
    return first
  }

  /// Reads one run.
  private struct Run {
    let file: SortedFingerprints.RunFile?
    /// The range of the file that was not read yet.
    var place: Range<Int64>
    var unread: ArraySlice<UInt8> = []
    /// The fingerprints of a run in memory.
    var prints: ArraySlice<EntryFingerprint> = []

    mutating func next() throws(FileError) -> EntryFingerprint? {
      guard let file else { return prints.popFirst() }
      try fill(EntryFingerprint.lengthOfLength, from: file)
      if unread.isEmpty { return nil }
      let length = EntryFingerprint.length(in: unread)
      unread = unread.dropFirst(EntryFingerprint.lengthOfLength)
      try fill(length, from: file)
      defer { unread = unread.dropFirst(length) }
      return EntryFingerprint(reading: unread.prefix(length))
    }

    /// Reads on until there are as many bytes.
    private mutating func fill(
      _ length: Int, from file: SortedFingerprints.RunFile
    ) throws(FileError) {
      while unread.count < length, !place.isEmpty {
        var buffer = [UInt8](repeating: 0, count: min(1 << 16, place.count))
        let count = try file.file.read(into: &buffer, at: place.lowerBound)
        if count == 0 { return }
        place = (place.lowerBound + Int64(count))..<place.upperBound
        unread = ArraySlice(Array(unread) + buffer[..<count])
      }
    }
  }
}
