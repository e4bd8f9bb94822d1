import Bytes
import Matching
public import ResponseStorage

/// Texts by which removed entries would be found in the files of their cache: keys, URLs, names of body files, and parts
/// of bodies.
public struct RemovedTexts: Sendable {
  /// The most bytes of a text that are looked for; of a longer one, the end.
  static let mostBytes = 512
  /// The length of a shorter text, of which there are few, that is still no accident in a file.
  static let fewestBytes = 6
  /// The most shorter texts, each of which is looked for by itself.
  private static let mostShortTexts = 256
  /// The most texts; a million takes 50 MB.
  private static let mostTexts = 1_000_000
  /// The most entries whose bodies are read.
  private static let mostBodies = 200_000
  /// The length of a part of a body.
  private static let partLength = 64
  /// The bytes of a body in which parts are chosen.
  private static let mostBodyBytes = 1 << 16
  /// The number of different bytes in a part below which other bodies would have it, too.
  private static let fewestValues = 8

  /// The number of entries.
  public private(set) var entries = 0
  /// The texts of at least the length that a set needs.
  private(set) var long = TextSet()
  /// The shorter texts.
  private(set) var short: Set<ByteString> = []
  /// The number of texts that are too short to be looked for.
  public private(set) var tooShort = 0
  /// The number of texts that are not looked for because there are too many; a body that was not read counts as one.
  public private(set) var tooMany = 0

  /// Creates an empty collection.
  public init() {}

  /// Whether there is nothing to look for.
  public var isEmpty: Bool { count == 0 }

  /// The number of texts.
  var count: Int { long.count + short.count }

  private var isFull: Bool { long.count >= Self.mostTexts }

  /// Adds the texts of entries that are about to be removed.
  ///
  /// - Parameters:
  ///   - entries: The entries, in ascending order of ids.
  ///   - source: The cache, which still has them.
  public mutating func insert(
    _ entries: RemovalPlan.EntryList, from source: any ResponseSource
  ) throws {
    self.entries += entries.count
    var read: [StoredResponse.ID] = []
    try entries.forEach { entry in
      if let url = entry.url { insert(url) }
      if let key = entry.version.key, key != entry.url { insert(key) }
      if case .file(let id) = entry.version.id { insert(id) }
      if read.count < Self.mostBodies { read.append(entry.version.id) }
    }
    if isFull { read = [] }
    tooMany += entries.count - read.count
    try source.forEachResponse(of: read, .body) { response in
      if let name = response.bodyFileName { insert(ByteString(copying: name)) }
      // A damaged entry has no body to compare, and is removed all the same.
      try? source.withBody(of: response) { insert(bodyOf: try Self.beginning(of: &$0)) }
      return .next
    }
  }

  /// Adds the names of body files to which no entry refers, and that are about to be removed.
  public mutating func insert(_ orphans: [OrphanFile]) {
    for orphan in orphans { insert(ByteString(orphan.name)) }
  }

  /// Adds names that no entry has, such as the URLs of entries that an interrupted command has removed.
  public mutating func insert(_ names: EntryNames) {
    for case .url(let url) in names.names { insert(url) }
  }

  /// Adds the texts of entries that the cache no longer shows, but that can still be read from its files.
  public mutating func insert(_ recovered: any RemovedEntries) throws {
    try recovered.scan([.key, .url, .body]) { response in
      entries += 1
      for text in [response.url, response.key, response.bodyFileName] {
        if let text { insert(ByteString(copying: text)) }
      }
      try? recovered.withBody(of: response) { insert(bodyOf: try Self.beginning(of: &$0)) }
      return .next
    }
  }

  /// Adds a text.
  private mutating func insert(_ text: ByteString) {
    let count = text.bytes.count
    if count >= TextSet.leastBytes {
      guard !isFull else { return tooMany += 1 }
      let first = max(count - Self.mostBytes, 0)
      _ = long.insert(text.bytes.span.extracting(droppingFirst: first))
    } else if count >= Self.fewestBytes {
      if short.count < Self.mostShortTexts || short.contains(text) {
        short.insert(text)
      } else {
        tooMany += 1
      }
    } else if count > 0 {
      tooShort += 1
    }
  }

  private static func beginning(of reader: inout BodyReader) throws -> [UInt8] {
    var buffer = [UInt8](
      repeating: 0, count: Int(clamping: min(max(reader.size.bytes, 1), Int64(mostBodyBytes))))
    let count = try reader.read(into: &buffer)
    buffer.removeLast(buffer.count - count)
    return buffer
  }

  /// Adds two parts of a body: bodies of one kind often begin and end alike.
  private mutating func insert(bodyOf bytes: [UInt8]) {
    guard bytes.count > Self.partLength else {
      if Self.isTelling(bytes[...]) { insert(ByteString(bytes)) }
      return
    }
    for third in 1...2 {
      let first = (bytes.count - Self.partLength) * third / 3
      let starts = stride(from: first, through: bytes.count - Self.partLength, by: Self.partLength)
      let parts = starts.lazy.prefix(16).map { bytes[$0..<$0 + Self.partLength] }
      if let part = parts.first(where: Self.isTelling) { insert(ByteString(Array(part))) }
    }
  }

  /// Whether other bodies probably do not have the same bytes.
  private static func isTelling(_ part: ArraySlice<UInt8>) -> Bool {
    part.count >= TextSet.leastBytes && Set(part).count >= fewestValues
  }
}

/// A search for the texts of a ``RemovedTexts``, which have numbers.
struct RemovedTextSearch: Sendable {
  /// Looks for the longer texts, whose numbers come before those of the others.
  private var long: TextSetSearch
  private let longCount: Int
  private let short: [LiteralSearch]
  private let shortLengths: [Int]
  /// Whether each shorter text is looked for.
  private var isWanted: [Bool]

  init(for texts: RemovedTexts) {
    long = TextSetSearch(texts.long)
    longCount = texts.long.count
    let sorted = texts.short.sorted()
    short = sorted.map { LiteralSearch($0) }
    shortLengths = sorted.map(\.bytes.count)
    isWanted = sorted.map { _ in true }
  }

  /// The number of texts that are looked for.
  var count: Int { long.count + isWanted.count { $0 } }

  /// Looks for these texts from now on, and for no others.
  mutating func look(for numbers: [Int]) {
    isWanted = isWanted.map { _ in false }
    for number in numbers where number >= longCount { isWanted[number - longCount] = true }
    long.look(for: numbers.lazy.filter { [longCount] in $0 < longCount })
  }

  /// Calls `found` with each occurrence of each text.
  mutating func forEachMatch(
    in bytes: Span<UInt8>, _ found: (_ number: Int, _ place: Range<Int>) -> TextSetSearch.Interest
  ) {
    long.forEachMatch(in: bytes, found)
    for index in short.indices where isWanted[index] {
      var start = 0
      while let place = short[index].firstIndex(in: bytes, from: start) {
        if found(longCount + index, place..<place + shortLengths[index]) == .drop {
          isWanted[index] = false
          break
        }
        start = place + 1
      }
    }
  }
}
