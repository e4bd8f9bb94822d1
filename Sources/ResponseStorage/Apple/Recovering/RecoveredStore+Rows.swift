import Bytes
import SQLitePages

// The rows of an entry, read again in the columns of a store.
extension RecoveredStore {
  /// Returns an entry in the columns of its rows.
  func raw(_ entry: Entry) throws -> RawResponse {
    guard case .row(let id) = entry.fact.id else { return RawResponse(id: 0) }
    var raw = RawResponse(id: id)
    raw.columns.append(.init("entry_ID", .integer(id)))
    if let row = entry.rows.response, let content = try reader.content(row) {
      for name in content.columns.dropFirst() {
        if let value = content.value(name) { raw.columns.append(.init(name, value)) }
      }
    } else {
      synthesizeKey(of: entry, in: &raw)
    }
    if let row = entry.rows.blob, let content = try reader.content(row) {
      raw.append(content)
    }
    guard let row = entry.rows.body else { return raw }
    let body = try body(of: row)
    raw.hasBodyFile = body?.isFile ?? false
    raw.parts.removeAll { $0.name == .body }
    raw.parts.append(.init(.body, body?.body))
    let isFlagged = row.shape == AppleRecordShapes.flaggedBody
    if isFlagged { raw.columns.append(.init("isDataOnFS", .integer(raw.hasBodyFile ? 1 : 0))) }
    return raw
  }

  /// Adds the key and the time of an entry whose row in the table of keys is lost, as far as its other rows have them.
  private func synthesizeKey(of entry: Entry, in raw: inout RawResponse) {
    guard let key = entry.key else { return }
    raw.columns += [
      .init("version", .integer(0)),
      .init("hash_value", .integer(CacheKeyHash(of: key).whenInserted)),
      .init("storage_policy", .integer(0)), .init("request_key", .text(key)),
    ]
    if entry.rows.key == nil { raw.synthesizedFields.append("the key, from the request") }
    guard let time = Timestamp(secondsSince1970: entry.stored) else { return }
    raw.columns.append(.init("time_stamp", .text(ByteString(AppleStoreWriter.text(of: time)))))
    raw.synthesizedFields.append("the first-stored time, from the time it was last stored")
  }

  /// Returns a body; `nil` if it is lost.
  func body(of row: FoundRow) throws -> (body: Body, isFile: Bool)? {
    guard let content = try reader.content(row, upTo: 0),
      let range = content.range(of: "receiver_data")
    else { return nil }
    if case .integer(let flag)? = content.value("isDataOnFS"), flag > 0 {
      guard case .text(let name)? = content.value("receiver_data") else { return nil }
      do throws(StoreError) {
        let size = try bodies.open(name).size
        return (Body(size: size) { [self] in try bodies.open(name) }, true)
      } catch {
        return nil
      }
    }
    if range.upperBound <= content.bytes.count {
      return (Body(Array(content.bytes[range])), false)
    }
    // The pages are noted, and read again when the body is.
    var pieces: [(image: PageImages.Image, range: Range<Int>)] = []
    let isComplete = try reader.forEachOverflow(
      of: row.payload, at: row.image.time, row.hasKnownTime ? .row : .remains
    ) { image, _, range in
      pieces.append((image, range))
      return true
    }
    // In the smallest pages, a long header leaves nothing of the body in the page itself.
    guard isComplete, range.lowerBound <= content.bytes.count else { return nil }
    let start = Array(content.bytes[range.lowerBound...])
    let open = { [images] () -> BodyReader in
      var (pending, next) = (start, 0)
      var page: [UInt8] = []
      return BodyReader(size: ByteCount(range.count)) { buffer in
        while pending.isEmpty, next < pieces.count {
          guard try images.read(pieces[next].image, into: &page) else { return 0 }
          pending = Array(page[pieces[next].range])
          next += 1
        }
        let count = min(pending.count, buffer.count)
        buffer.replaceSubrange(0..<count, with: pending[..<count])
        pending.removeFirst(count)
        return count
      }
    }
    return (Body(size: ByteCount(range.count), opening: open), false)
  }
}

extension AppleRecordShapes {
  /// The shape of a body that can be in a file.
  static let flaggedBody = all.firstIndex { $0.columns.contains("isDataOnFS") }
}
