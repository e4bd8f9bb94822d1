import Archive
import Bytes
import ResponseStorage

/// Assembles the entries of a WARC file from its records, one at a time.
final class WARCEntryMaker {
  private let path: String
  private let records: Cursors
  /// Reads copies of the heads of records.
  private let heads: Cursors?

  private var bodies: WARCCursor { records.bodies }

  private struct Cursors {
    /// Reads the records with bodies.
    let bodies: WARCCursor
    /// Reads the records that accompany them. A second cursor keeps either from seeking back.
    let others: WARCCursor

    /// Whether the file is that of the copies.
    let areCopies: Bool

    init(_ file: FileBytes, _ coding: ContentCoding?, areCopies: Bool = false) {
      self.areCopies = areCopies
      bodies = WARCCursor(file, coding)
      others = WARCCursor(file, coding)
    }

    func place(of record: WARCIndex.Record) -> WARCInput.Place {
      areCopies ? WARCInput.Place(member: record.copy) : record.place
    }
  }

  /// Creates a maker.
  ///
  /// - Parameter heads: Copies of the heads of records, if there are any.
  init(_ file: FileBytes, _ coding: ContentCoding?, heads: FileBytes?, path: String) {
    self.path = path
    records = Cursors(file, coding)
    self.heads = heads.map { Cursors($0, nil, areCopies: true) }
  }

  /// Makes an entry.
  ///
  /// - Parameters:
  ///   - number: Its index.
  ///   - limit: The size of the largest body to read immediately, in bytes; `nil` for none.
  func response(
    _ number: Int, _ entry: WARCIndex.Entry, readingUpTo limit: ByteCount?
  ) throws -> RawResponse {
    try translatingErrors { try makeResponse(entry, limit).raw(id: Int64(number + 1)) }
  }

  private func makeResponse(
    _ entry: WARCIndex.Entry, _ limit: ByteCount?
  ) throws -> NewResponse {
    let cursors = limit == nil ? heads ?? records : records
    let isOne = entry.record.place == entry.body.place
    let record = try (isOne ? cursors.bodies : cursors.others)
      .record(at: cursors.place(of: entry.record))
    guard let url = record.header.targetURI, let date = record.header.date else {
      throw WARCError("a record disappeared")
    }
    var payload = try WARCPayload(record)
    if entry.hasHeadOfBody {
      payload = try WARCPayload(cursors.bodies.record(at: cursors.place(of: entry.body)))
    }
    let headers = payload.head.headers
    let isAtBody = !cursors.areCopies && (isOne || entry.hasHeadOfBody)
    let body = try body(of: entry, continuing: isAtBody ? payload : nil, limit)
    var response = NewResponse(
      url: url, status: payload.status ?? 200,
      headers: entry.isRenamed ? WARCLabel.original(headers) : headers, stored: date, body: body)
    if let request = entry.request {
      let record = try cursors.others.record(at: cursors.place(of: request))
      try readRequest(record, isRenamed: entry.isRenamed, into: &response.request)
    }
    return response
  }

  private func readRequest(
    _ record: WARCReader, isRenamed: Bool, into request: inout StoredResponse.Request
  ) throws {
    request.url = record.header.targetURI ?? request.url
    guard let head = try HTTPMessageHead.read({ try record.line(upTo: $0) }) else { return }
    request.method = head.method ?? request.method
    var headers = head.headers
    if isRenamed {
      // The export adds `Host`, and renames a stored one.
      headers.fields.removeAll { $0.name == "Host" }
      headers = WARCLabel.original(headers)
    }
    request.headers = headers
    let body = try record.block(upTo: WARCIndex.largestInMemory)
    request.body = body.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Returns the body of an entry.
  ///
  /// - Parameters:
  ///   - payload: What was just read of its record, if reading can go on there.
  ///   - limit: The size of the largest body to read immediately.
  private func body(
    of entry: WARCIndex.Entry, continuing payload: WARCPayload?, _ limit: ByteCount?
  ) throws -> Body {
    guard let limit, entry.size <= limit else {
      return body(readLaterOf: entry, continuing: payload)
    }
    let whole = try payload ?? WARCPayload(bodies.record(at: entry.body.place))
    let reader = try whole.body(areBodiesDecoded: entry.isBodyDecoded)
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: Int(min(entry.size.bytes + 1, 1 << 16)))
    while case let count = try reader.read(into: &buffer), count > 0 {
      bytes += buffer[..<count]
      guard ByteCount(bytes.count) <= entry.size else { break }
    }
    if entry.isCut { bytes.removeLast(max(0, bytes.count - Int(clamping: entry.size.bytes))) }
    guard ByteCount(bytes.count) == entry.size else {
      throw WARCError("a record disappeared")
    }
    return Body(bytes)
  }

  /// Returns the body of an entry, which is read only when it is wanted.
  ///
  /// - Parameter payload: What was just read of its record, if reading can go on there.
  func body(readLaterOf entry: WARCIndex.Entry, continuing payload: WARCPayload? = nil) -> Body {
    let sha256 = String(decoding: Base16.encode(entry.sha256), as: UTF8.self)
    let opening = bodies.opening
    var body = Body(size: entry.size, sha256: sha256.isEmpty ? nil : sha256) { [self] in
      let readsOn = payload != nil && bodies.readsOn(opening)
      return try makeReader(ofBodyOf: entry, continuing: readsOn ? payload : nil)
    }
    body.isVerified = true
    return body
  }

  private func makeReader(
    ofBodyOf entry: WARCIndex.Entry, continuing payload: WARCPayload?
  ) throws -> BodyReader {
    let reader = try translatingErrors {
      try (payload ?? WARCPayload(bodies.record(at: entry.body.place)))
        .body(areBodiesDecoded: entry.isBodyDecoded)
    }
    var rest = entry.isCut ? entry.size : nil
    return BodyReader(size: entry.size) { [self] buffer in
      guard rest != 0 else { return 0 }
      let count = try translatingErrors { try reader.read(into: &buffer) }
      guard let left = rest else { return count }
      let wanted = min(ByteCount(count), left)
      rest = left - wanted
      return Int(clamping: wanted.bytes)
    }
  }

  /// Indexing read all of these records without error, so an error here means that the file changed meanwhile.
  private func translatingErrors<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error as WARCError {
      throw ResponseArchiveError(.damaged, at: path, "\(error)")
    } catch let error as ContentDecodingError {
      throw ResponseArchiveError(.damaged, at: path, "\(error)")
    } catch let error as HTTPBodyError {
      throw ResponseArchiveError(.damaged, at: path, "\(error)")
    }
  }
}
