import Administration
import Bytes
import Rendering
import ResponseArchives
import ResponseStorage

/// The entries that differ between two stores, read again for their details.
struct ComparedEntries {
  /// The numbers of entries that are read from each store at once. One pass through an archive finds many, but their
  /// header fields and bodies must fit into memory: if they do not, the next smaller number is tried.
  private static let batchSizes = [8192, 256, 16, 1]

  /// The maximum length of what is in memory of each store, in bytes, if that is more than one entry.
  private static let batchLimit = 32 << 20

  let first: any ResponseSource
  let second: any ResponseSource

  /// Whether to read the entries; otherwise there are no details.
  let hasDetail: Bool

  /// Whether to compare bodies.
  let comparesBodies: Bool

  /// Calls `body` with each difference, in order.
  func forEach(
    _ differences: [StoreComparison.Difference],
    _ body: (StoreComparison.Difference, EntryDifference?) throws -> Void
  ) throws {
    // The comparison itself kept digests only, so nothing is read again unless somebody wants to
    // see it.
    guard hasDetail else { return try differences.forEach { try body($0, nil) } }
    var rest = differences[...]
    while !rest.isEmpty {
      for size in Self.batchSizes {
        let batch = rest.prefix(size)
        guard let before = try entries(batch, \.first, of: first),
          let after = try entries(batch, \.second, of: second)
        else { continue }
        try pass(batch, before, after, to: body)
        rest = rest.dropFirst(batch.count)
        break
      }
    }
  }

  private func pass(
    _ batch: ArraySlice<StoreComparison.Difference>, _ before: Entries, _ after: Entries,
    to body: (StoreComparison.Difference, EntryDifference?) throws -> Void
  ) throws {
    for difference in batch {
      var detail = EntryDifference(
        first: difference.first.flatMap { before.responses[$0] },
        second: difference.second.flatMap { after.responses[$0] }, body: nil)
      if comparesBodies(of: difference), let one = difference.first, let other = difference.second {
        detail.body = ComparedBodies.compare(
          try before.bodies[one] ?? decodedBody(of: one, in: first),
          try after.bodies[other] ?? decodedBody(of: other, in: second))
      }
      try body(difference, detail)
    }
  }

  /// Entries of one store in memory.
  private struct Entries {
    var responses: [StoredResponse.ID: StoredResponse] = [:]
    /// The bodies to compare, if the store is an archive, which would be read again for each of them.
    var bodies: [StoredResponse.ID: ComparedBodies.Body?] = [:]
    /// About how many bytes these are.
    var byteCount = 0
  }

  /// Reads the entries of one store; returns `nil` if they are too long to be in memory at once.
  private func entries(
    _ batch: ArraySlice<StoreComparison.Difference>,
    _ id: KeyPath<StoreComparison.Difference, StoredResponse.ID?>, of source: any ResponseSource
  ) throws -> Entries? {
    let isArchive = !source.description.traits.isCache
    let withBody = Set(
      isArchive ? batch.filter { comparesBodies(of: $0) }.compactMap { $0[keyPath: id] } : [])
    var entries = Entries()
    func insert(_ response: borrowing StoredResponse, _ body: ScannedBody?) throws -> ScanStep {
      if let body, withBody.contains(response.id) {
        let decoded = try ComparedBodies.decoded(body)
        entries.bodies[response.id] = .some(decoded)
        entries.byteCount += decoded?.count ?? 0
      }
      entries.responses[response.id] = copy response
      entries.byteCount += response.textLength
      return entries.byteCount > Self.batchLimit && batch.count > 1 ? .stop : .next
    }
    let ids = batch.compactMap { $0[keyPath: id] }.sorted()
    if withBody.isEmpty {
      try source.forEachResponse(of: ids, .all) { try insert($0, nil) }
    } else {
      try source.forEachResponseWithBody(of: ids, .all) { try insert($0, $1) }
    }
    return entries.byteCount > Self.batchLimit && batch.count > 1 ? nil : entries
  }

  private func comparesBodies(of difference: StoreComparison.Difference) -> Bool {
    comparesBodies && difference.aspects.contains(.body) && difference.first != nil
      && difference.second != nil
  }

  private func decodedBody(
    of id: StoredResponse.ID, in source: any ResponseSource
  ) throws -> ComparedBodies.Body? {
    try ComparedBodies.decoded(
      ScannedBody { read in
        try source.withBody(of: id, read)
        return true
      })
  }
}

extension StoredResponse {
  /// About how many bytes of text there are in what was decoded.
  fileprivate var textLength: Int {
    // What an entry takes in memory without text.
    var length = 1 << 10
    for fields in [responseHeaders, request.headers] {
      for field in fields?.fields ?? [] {
        length += field.name.bytes.count + field.value.bytes.count + 64
      }
    }
    for text in [key, url, request.url] { length += text?.bytes.count ?? 0 }
    return length + (request.body?.count ?? 0) + (userInfo.count + protocolProperties.count) * 256
  }
}

/// The bodies of an entry in two stores, which are compared line by line if they are text.
enum ComparedBodies {
  /// The maximum size of a decoded body, and of an indented one. Both bodies and their lines are in memory; a text of
  /// this size is more than anybody reads, and its comparison takes less than a second.
  static let limit = ByteCount(1 << 20)

  /// The maximum number of lines of each body. A comparison needs some hundred bytes for each line, however short it is.
  static let mostLines = 50_000

  /// Compares the bodies of two responses; `nil` is a body that cannot be read.
  static func compare(_ before: Body?, _ after: Body?) -> BodyDifference {
    guard let before, let after else { return .unreadable }
    guard case .whole(let before) = before, case .whole(let after) = after else {
      return .tooLarge(limit)
    }
    guard before != after else { return .sameDecoded }
    // Lines of pictures would be of no use to anybody.
    guard before.isText, after.isText else { return .binary }
    if let (before, after) = indented(before, after) {
      return before == after
        ? .sameJSON
        : .lines(
          LineComparison(of: before, with: after, limit: mostLines), isIndented: true)
    }
    return .lines(
      LineComparison(of: before, with: after, limit: mostLines), isIndented: false)
  }

  /// A decoded body.
  enum Body {
    case whole([UInt8])
    case tooLarge

    /// The number of bytes in memory.
    var count: Int { if case .whole(let bytes) = self { bytes.count } else { 0 } }
  }

  /// Returns a body after undoing its content coding; `nil` if it cannot be read.
  static func decoded(_ body: ScannedBody) throws -> Body? {
    struct TooLarge: Error {}
    var bytes: [UInt8] = []
    do {
      let isRead = try body.read { reader in
        _ = try reader.forEachDecodedChunk(limit: limit) { piece in
          bytes += piece
          // The limit is one of decoding; a body without a coding is passed on as it is.
          if bytes.count > limit.bytes { throw TooLarge() }
        }
      }
      return isRead ? .whole(bytes) : nil
    } catch is TooLarge {
      return .tooLarge
    } catch let error as BodyDecodingError {
      return error.isTooLarge ? .tooLarge : nil
    } catch let error as StoreError where error.code == .noSuchResponse || error.code == .damaged {
      return nil
    }
  }

  /// Returns two JSON texts with each value on its own line; `nil` if one is not JSON, or would become too large.
  private static func indented(_ one: [UInt8], _ other: [UInt8]) -> ([UInt8], [UInt8])? {
    guard let one = indented(one), let other = indented(other) else { return nil }
    return (one, other)
  }

  private static func indented(_ text: [UInt8]) -> [UInt8]? {
    struct TooLarge: Error {}
    var indenter = JSONIndenter()
    var buffer = TextBuffer()
    do {
      try indenter.append(all: text[...], into: &buffer) { buffer in
        if buffer.bytes.count > 4 * limit.bytes { throw TooLarge() }
      }
      try indenter.finish(into: &buffer)
    } catch {
      return nil
    }
    return buffer.bytes
  }
}

extension [UInt8] {
  /// Whether the bytes are UTF-8 without NUL, which no text contains.
  fileprivate var isText: Bool {
    !contains(0) && String(validating: self, as: UTF8.self) != nil
  }
}
