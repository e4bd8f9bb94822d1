import Bytes
public import Files
import Matching
public import ResponseStorage

/// A search for the texts of removed entries in the bytes of all files of their cache, below SQLite.
public struct TraceSearch {
  /// The bytes that are read at once.
  private static let pieceLength = 1 << 20

  /// Where a text was found in a file.
  private struct Found {
    var count: Int64 = 0
    var first: Int64
  }

  /// The texts of at least the length that ``TextSetSearch`` needs, followed by the shorter ones.
  private let texts: [ByteString]
  private let search: TextSetSearch
  private let shortSearches: [LiteralSearch]
  private var report = TraceReport()
  /// The files with hits, and the hits by their texts.
  private var hits: [(file: StoreFile, found: [Int: Found])] = []

  /// Creates a search.
  public init(for removed: RemovedTexts) {
    let long = removed.texts.filter { $0.bytes.count >= TextSetSearch.leastBytes }.sorted()
    let short = removed.texts.filter { $0.bytes.count < TextSetSearch.leastBytes }.sorted()
    let used = short.prefix(RemovedTexts.mostShortTexts)
    texts = long + used
    search = TextSetSearch(long)
    shortSearches = used.map { LiteralSearch($0) }
    report.entries = removed.entries
    report.texts = texts.count
    report.tooShort = removed.tooShort + short.count - used.count
  }

  /// Searches a file.
  public mutating func search(_ file: StoreFile, _ bytes: borrowing OpenFile) throws(FileError) {
    report.files += 1
    guard !texts.isEmpty else { return }
    var found: [Int: Found] = [:]
    // A file of a Foundation cache has the key in its name.
    forEachMatch(in: file.name.bytes.span) { index, _ in
      found[index, default: Found(first: 0)].count += 1
    }
    var buffer = [UInt8](repeating: 0, count: Self.pieceLength + RemovedTexts.mostBytes)
    var (offset, searched): (Int64, Int64) = (0, 0)
    while true {
      let count = try Self.fill(&buffer, from: bytes, at: offset)
      guard count > 0 else { break }
      let end = offset + Int64(count)
      forEachMatch(in: buffer.span.extracting(0..<count)) { index, start in
        let start = offset + Int64(start)
        // What ends in the piece before was found there.
        guard start + Int64(texts[index].bytes.count) > searched else { return }
        found[index, default: Found(first: start)].count += 1
      }
      WorkCounter.add(end - max(offset, searched))
      searched = end
      guard count == buffer.count else { break }
      offset = end - Int64(RemovedTexts.mostBytes)
    }
    if !found.isEmpty { hits.append((file, found)) }
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

  private func forEachMatch(in bytes: Span<UInt8>, _ found: (_ index: Int, _ start: Int) -> Void) {
    search.forEachMatch(in: bytes, found)
    for (number, search) in shortSearches.enumerated() {
      var start = 0
      while let place = search.firstIndex(in: bytes, from: start) {
        found(self.search.count + number, place)
        start = place + 1
      }
    }
  }

  /// Finds out which of the found texts belong to entries of the cache, and returns the result.
  ///
  /// - Parameter open: Opens the cache; called only if something was found.
  public consuming func finish(opening open: () throws -> any ResponseSource) throws -> TraceReport
  {
    guard !hits.isEmpty else { return report }
    var shared = Set<Int>()
    let filesOfEntries = hits.filter(\.file.isOfEntry)
    for hit in filesOfEntries { shared.formUnion(hit.found.keys) }
    let source = try open()
    if source.description.format.hasDatabase {
      report.sharingEntries = try findSharing(source, &shared)
    } else {
      report.sharingEntries = filesOfEntries.count
    }
    try source.finish()
    for hit in hits where !hit.file.isOfEntry {
      let traces = hit.found.filter { !shared.contains($0.key) }.values
      guard let first = traces.lazy.map(\.first).min() else { continue }
      report.places.append(
        .init(file: hit.file.name, traces: traces.reduce(0) { $0 + $1.count }, offset: first))
    }
    report.sharedTexts = shared.count
    return report
  }

  /// Adds the texts that entries have, and returns the number of those entries.
  private func findSharing(_ source: any ResponseSource, _ shared: inout Set<Int>) throws -> Int {
    let indices = Set(hits.flatMap(\.found.keys)).sorted()
    let found = indices.map { texts[$0] }
    var removed = RemovedTexts()
    for text in found { removed.insert(text) }
    let search = TraceSearch(for: removed)
    var ids: [ByteString: Int] = [:]
    for index in indices { ids[texts[index]] = index }
    var entries = 0
    try source.forEachRawResponse([], where: { _ in true }) { response in
      var isSharing = false
      func look(in bytes: [UInt8]) {
        search.forEachMatch(in: bytes.span) { index, _ in
          if let original = ids[search.texts[index]] { shared.insert(original) }
          isSharing = true
        }
      }
      for column in response.columns {
        switch column.value {
        case .text(let text): look(in: text.bytes)
        case .blob(let bytes): look(in: bytes)
        case .null, .integer, .real: break
        }
      }
      for part in response.parts {
        var rest: [UInt8] = []
        try part.content?.forEachChunk { chunk in
          rest += chunk
          look(in: rest)
          rest = Array(rest.suffix(RemovedTexts.mostBytes))
        }
      }
      if isSharing { entries += 1 }
      return .next
    }
    return entries
  }
}
