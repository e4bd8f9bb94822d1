import Bytes
import Files
import JSON
import ResponseStorage

/// A HAR file of any program, read as a store.
///
/// Opening reads the whole file once, and keeps only the offset of each entry, so a HAR may be larger than memory.
final class HARArchive: ArchiveKind {
  static let name = "HAR"

  /// The maximum nesting depth of the JSON. Chrome writes call stacks of scripts, which are deep.
  private static let deepest = 512
  let file: ArchiveFile
  let description: StoreDescription
  private let budget: HARBudget
  private let text: HARText
  private let index: HARIndex

  static func isArchive(_ file: ArchiveFile) -> Bool { HARText.isIn(file) }

  init(_ file: ArchiveFile, limits: ArchiveLimits) throws {
    self.file = file
    budget = HARBudget(limits, path: file.path)
    text = try HARText(of: file, limits: limits)
    index = try HARIndex(
      of: Self.reader(of: text.bytes, in: text.start..<Int64.max), budget, text.attachments)
    description = StoreDescription(
      path: file.path, format: .archive, schemaVersion: nil, identity: file.status.identity,
      rawPropertyLists: RawResponse.Part.Name.allCases.filter { $0 != .body }.map(\.rawValue))
  }

  /// Returns a reader of a part of a file.
  private static func reader(of text: FileBytes, in part: Range<Int64>) -> JSONReader {
    JSONReader(startingAt: Int(part.lowerBound), deepest: deepest) { offset in
      let length = min(1 << 16, part.upperBound - Int64(offset))
      guard length > 0 else { return [] }
      var bytes = [UInt8](repeating: 0, count: Int(length))
      let count = try text.read(&bytes, Int64(offset))
      bytes.removeLast(bytes.count - count)
      return bytes
    }
  }

  var limits: ArchiveLimits { budget.limits }

  var rawLayout: RawLayout { .ofNewResponses }

  var omissions: [ArchiveOmission] { index.omissions }

  func forEachEntry(
    verifyingBodies: Bool, _ body: (RawResponse) throws -> ScanStep
  ) throws {
    var json = Self.reader(of: text.bytes, in: 0..<Int64.max)
    for place in index.places {
      WorkCounter.add()
      guard try body(entry(at: place, &json)) == .next else { return }
    }
    if let damage = index.damage { throw damage }
  }

  func forEachEntry(of numbers: [Int64], _ body: (RawResponse) throws -> ScanStep) throws {
    var json = Self.reader(of: text.bytes, in: 0..<Int64.max)
    var places = index.places[...]
    for number in numbers {
      places = places.drop { $0.number < number }
      guard let place = places.first, place.number == number else { continue }
      if try body(entry(at: place, &json)) == .stop { return }
    }
  }

  func count() throws -> Int64 {
    if let damage = index.damage { throw damage }
    return Int64(index.places.count)
  }

  private func entry(at place: HARIndex.Place, _ json: inout JSONReader) throws -> RawResponse {
    let changed = StoreError(
      .changedWhileReading, at: file.path, because: "an entry changed")
    json.move(to: Int(place.offset))
    var entry: HAREntry
    // The same bytes were read without an error when the file was opened, so it has changed since.
    do {
      entry = try HAREntry(reading: &json, budget, sizes: place.sizes)
    } catch is JSONError {
      throw changed
    }
    try entry.attach(text.attachments, budget)
    let body = entry.content?.body(file.path, text.attachments) { [text] in
      Self.reader(of: text.bytes, in: $0)
    }
    guard let response = entry.newResponse(body) else { throw changed }
    return response.raw(id: place.number)
  }
}

/// The offsets of the HAR entries that a cache can store.
struct HARIndex {
  /// The location of an entry.
  struct Place {
    /// The number of the entry in the file, starting at 1.
    var number: Int64
    /// The offset of the entry in the file.
    var offset: Int64
    /// The sizes of its content.
    var sizes: HARContent.Sizes
  }

  /// The entries, in file order; no two have the same key.
  private(set) var places: [Place] = []
  /// The entries that a cache cannot store.
  private(set) var omissions: [ArchiveOmission] = []
  /// The error that ended reading early, if any.
  private(set) var damage: ResponseArchiveError?

  private var count: Int64 = 0
  private var hasEntries = false
  /// The latest entry of each key, by its index, and whether its method is GET. Digests bound the memory that long
  /// URLs take.
  private var latest: [TextDigest: (index: Int, isGET: Bool)] = [:]
  private var isReplaced: [Bool] = []

  /// Reads a whole HAR file.
  ///
  /// - Throws: ``ResponseArchiveError`` if it is not a HAR file or exceeds a limit. Broken JSON is no error: it
  ///   becomes ``damage``.
  init(of json: JSONReader, _ budget: HARBudget, _ attachments: HARAttachments) throws {
    var json = json
    do {
      try json.object { json, name in
        guard ByteString(name) == "log", try json.isObject() else { return try json.skip() }
        try json.object { json, name in
          guard ByteString(name) == "entries", try json.isArray() else { return try json.skip() }
          hasEntries = true
          try json.array { try add(&$0, budget, attachments) }
        }
      }
      try json.end()
    } catch let error as JSONError {
      damage = ResponseArchiveError(.damaged, at: budget.path, "its JSON is malformed: \(error)")
    }
    guard hasEntries else {
      throw ResponseArchiveError(
        .notAnArchive, at: budget.path, "it is JSON, but not a HAR: its log has no entries")
    }
    places = zip(places, isReplaced).filter { !$0.1 }.map { $0.0 }
    (latest, isReplaced) = ([:], [])
  }

  private mutating func add(
    _ json: inout JSONReader, _ budget: HARBudget, _ attachments: HARAttachments
  ) throws {
    count += 1
    try budget.limits.check(count, .entries, at: budget.path)
    let offset = Int64(try json.beginningOfValue())
    var entry = try HAREntry(reading: &json, budget)
    try entry.attach(attachments, budget)
    if let size = entry.content?.bodySize {
      try budget.limits.check(size, .member, at: budget.path)
    }
    guard let text = entry.newResponse(nil)?.key, let content = entry.content else {
      let finding = entry.finding
      return omissions.add(
        finding ?? "it has no key", isPart: HAREntry.losses.contains(finding ?? ""))
    }
    let key = TextDigest(text)
    let isGET = entry.isGET
    if let other = latest[key] {
      omissions.add("another entry has the same key")
      // Caches are asked for responses to GET, so a GET wins over a later request with another method.
      if other.isGET, !isGET { return }
      isReplaced[other.index] = true
    }
    latest[key] = (places.count, isGET)
    places.append(Place(number: count, offset: offset, sizes: content.sizes))
    isReplaced.append(false)
  }
}
