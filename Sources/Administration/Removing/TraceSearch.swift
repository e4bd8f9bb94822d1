public import Bytes
public import Files
import Matching
public import ResponseStorage

/// A search for the texts of removed entries in the bytes of all files of their cache, below SQLite.
public struct TraceSearch: Sendable {
  /// The bytes that are read at once.
  private static let pieceLength = 1 << 20

  /// The most threads that search a file.
  private static let mostThreads = 8

  /// The number of bytes of a file that are worth a thread.
  private static let leastThreadLength: Int64 = 1 << 24

  /// How often a text is counted in a file and in entries, if there are few.
  ///
  /// Texts that many entries have would otherwise take the most time, and say nothing.
  public static let mostOccurrences = 16

  /// The number of texts above which each is counted only once in a file, and in entries.
  private static let manyTexts = 10_000

  private var search: RemovedTextSearch
  /// How often each text was found in entries, up to a limit.
  private var shares: [UInt8]
  /// How often a text is counted in a file and in entries.
  private let mostCounted: UInt8
  private var report = TraceReport()
  /// The files in which texts were found; not those of entries.
  private var hits: [(file: StoreFile, places: TextPlaces)] = []

  /// Creates a search.
  public init(for removed: RemovedTexts) {
    search = RemovedTextSearch(for: removed)
    shares = [UInt8](repeating: 0, count: removed.count)
    // One is enough to know that there is a trace, or that a text is none; how many there are is only for people.
    mostCounted = removed.count > Self.manyTexts ? 1 : UInt8(Self.mostOccurrences)
    report.entries = removed.entries
    report.texts = removed.count
    report.tooShort = removed.tooShort
    report.tooMany = removed.tooMany
  }

  /// Searches a file.
  public mutating func search(_ file: StoreFile, _ bytes: borrowing OpenFile) throws(FileError) {
    report.files += 1
    guard report.texts > 0 else { return }
    if file.isOfEntry {
      var isSharing = false
      lookForShared(in: file.name.bytes.span, &isSharing)
      try Self.forEachPiece(of: bytes) { piece, _, _ in lookForShared(in: piece, &isSharing) }
      if isSharing { report.sharingEntries += 1 }
    } else {
      let places = try places(in: bytes, named: file.name)
      if !places.isEmpty { hits.append((file, places)) }
    }
  }

  /// Records which texts are in bytes of an entry.
  private mutating func lookForShared(in bytes: Span<UInt8>, _ isSharing: inout Bool) {
    search.forEachMatch(in: bytes) { number, _ in
      isSharing = true
      if shares[number] < mostCounted { shares[number] += 1 }
      return shares[number] < mostCounted ? .keep : .drop
    }
  }

  /// Returns where texts are in a file that is not of an entry.
  private func places(
    in file: borrowing OpenFile, named name: ByteString
  ) throws(FileError) -> TextPlaces {
    var places = TextPlaces(upTo: Int64(mostCounted))
    // A file of a Foundation cache has the key in its name, and one of an Apple cache is named in its entry.
    var search = search
    search.forEachMatch(in: name.bytes.span) { number, _ in
      places.insert(number, at: 0)
      return .keep
    }
    let size = try file.status().size.bytes
    let threads = max(1, min(processorCount, Self.mostThreads, Int(size / Self.leastThreadLength)))
    // By turns, as texts are seldom spread evenly: SQLite writes one table after the other.
    let found = try BackgroundThread.map(threads) { thread throws(FileError) in
      try self.places(in: file, from: thread, every: threads, endingIn: 0..<size)
    }
    for part in found { places.merge(part) }
    // An app can have added bytes to a piece after its turn.
    if try file.status().size.bytes > size {
      let first = Int(size / Int64(Self.pieceLength))
      places.merge(try self.places(in: file, from: first, every: 1, endingIn: size..<Int64.max))
    }
    return places
  }

  /// Returns where texts are that end in some of the pieces of a file.
  ///
  /// - Parameter part: The part of the file in which they end.
  private func places(
    in file: borrowing OpenFile, from first: Int, every step: Int, endingIn part: Range<Int64>
  ) throws(FileError) -> TextPlaces {
    var places = TextPlaces(upTo: Int64(mostCounted))
    var search = search
    try Self.forEachPiece(of: file, from: first, every: step) { piece, offset, searched in
      search.forEachMatch(in: piece) { number, place in
        // What ends in the piece before was found there.
        let end = offset + Int64(place.upperBound)
        guard end > max(searched, part.lowerBound), end <= part.upperBound else { return .keep }
        places.insert(number, at: offset + Int64(place.lowerBound))
        return places.isFull(number) ? .drop : .keep
      }
    }
    return places
  }

  /// Returns those of some texts of which it is not known that entries have them often.
  private func unsettled(_ numbers: some Sequence<Int>) -> [Int] {
    numbers.filter { shares[$0] < mostCounted }
  }

  /// Calls `body` with pieces of a file, which overlap by the length of the longest text.
  ///
  /// - Parameters:
  ///   - first: The number of the first piece, from 0.
  ///   - step: The distance to the number of the next.
  ///   - body: Receives the piece, where it begins, and where the piece before ends.
  private static func forEachPiece(
    of file: borrowing OpenFile, from first: Int = 0, every step: Int = 1,
    _ body: (Span<UInt8>, _ offset: Int64, _ searched: Int64) -> Void
  ) throws(FileError) {
    var buffer = [UInt8](repeating: 0, count: pieceLength + RemovedTexts.mostBytes)
    var searched = Int64(first) * Int64(pieceLength)
    while true {
      let offset = max(searched - Int64(RemovedTexts.mostBytes), 0)
      let length = Int(searched - offset) + pieceLength
      let count = min(try fill(&buffer, from: file, at: offset), length)
      let end = offset + Int64(count)
      guard end > searched else { return }
      body(buffer.span.extracting(0..<count), offset, searched)
      WorkCounter.add(end - searched)
      searched += Int64(step) * Int64(pieceLength)
    }
  }

  /// Reads as many bytes as fit, and returns their number.
  private static func fill(
    _ buffer: inout [UInt8], from file: borrowing OpenFile, at offset: Int64
  ) throws(FileError) -> Int {
    let count = try file.read(into: &buffer, at: offset)
    guard count > 0, count < buffer.count else { return count }
    // A read may return fewer bytes than there are.
    var total = count
    while total < buffer.count {
      let more = try file.read(buffer.count - total, at: offset + Int64(total))
      if more.isEmpty { break }
      buffer.replaceSubrange(total..<total + more.count, with: more)
      total += more.count
    }
    return total
  }

  /// Finds out which of the found texts entries of the cache have, too, and returns the result.
  ///
  /// - Parameter open: Opens the cache; called only if something was found.
  public consuming func finish(opening open: () throws -> any ResponseSource) throws -> TraceReport
  {
    if !hits.isEmpty {
      let source = try open()
      if source.description.traits.hasDatabase { try lookForShared(in: source) }
      try source.finish()
    }
    for hit in hits {
      guard let traces = hit.places.traces(where: { shares[$0] == 0 }) else { continue }
      if traces.isLowerBound { report.countsAllTraces = false }
      report.places.append(
        .init(file: hit.file.name, traces: traces.count, offset: traces.first))
    }
    report.sharedTexts = shares.count { $0 > 0 }
    report.countsAllSharing = !shares.contains { $0 >= mostCounted }
    return report
  }

  /// Looks for the found texts in the rows of entries.
  private mutating func lookForShared(in source: any ResponseSource) throws {
    search.look(for: unsettled(Set(hits.flatMap(\.places.numbers))))
    try source.forEachRawResponse([], where: { _ in true }) { response in
      guard search.count > 0 else { return .stop }
      var isSharing = false
      lookForShared(in: response.smallValues.span, &isSharing)
      var before: [UInt8] = []
      for part in response.parts where part.name != .body || !response.hasBodyFile {
        if part.name == .body { before = RawResponse.types(ofBodyWith: part.content?.size ?? 0) }
        try lookForShared(in: part, after: &before, &isSharing)
      }
      if isSharing {
        // An entry whose body file has a text, too, was counted with the files.
        var isCounted = false
        if response.hasBodyFile, let body = response.part(.body) {
          before = []
          try lookForShared(in: body, after: &before, &isCounted)
        }
        if !isCounted { report.sharingEntries += 1 }
      }
      return .next
    }
  }

  /// Looks for texts in a part of an entry.
  ///
  /// - Parameter before: The bytes before it in its row; receives its end.
  private mutating func lookForShared(
    in part: RawResponse.Part, after before: inout [UInt8], _ isSharing: inout Bool
  ) throws {
    try part.content?.forEachChunk { chunk in
      before += chunk
      lookForShared(in: before.span, &isSharing)
      before = Array(before.suffix(RemovedTexts.mostBytes))
    }
  }
}

/// What a search for removed entries found in the files of their cache.
public struct TraceReport: Hashable, Sendable {
  /// A file with traces.
  public struct Place: Hashable, Sendable {
    /// The name of the file, relative to the folder of the cache.
    public var file: ByteString
    /// The number of traces; of a text that is there more than ``TraceSearch/mostOccurrences`` times, that many are
    /// counted, or one if there are many texts.
    public var traces: Int64
    /// Where the first one begins.
    public var offset: Int64
  }

  /// The number of removed entries.
  public var entries = 0
  /// The number of texts that were looked for.
  public var texts = 0
  /// The number of texts that were not looked for, because they are too short.
  public var tooShort = 0
  /// The number of texts that were not looked for, because there are too many; a body that was not read counts as one.
  public var tooMany = 0
  /// The number of files that were searched.
  public var files = 0
  /// The files with traces.
  public var places: [Place] = []
  /// Whether ``traces`` is exact; otherwise it is a lower bound.
  public var countsAllTraces = true
  /// The number of texts that entries of the cache have, too, so that finding them proves nothing.
  public var sharedTexts = 0
  /// The number of those entries that were found.
  public var sharingEntries = 0
  /// Whether there are no more of them: a text is looked for only until it was found often enough.
  public var countsAllSharing = true

  /// The number of all traces.
  public var traces: Int64 { places.reduce(0) { $0 + $1.traces } }
}

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
