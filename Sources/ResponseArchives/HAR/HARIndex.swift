import Bytes
import JSON
import ResponseStorage

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
    entry.attach(attachments)
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
