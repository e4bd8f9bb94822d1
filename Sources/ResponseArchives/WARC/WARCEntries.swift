import Archive
import Bytes
import Files
import ResponseStorage

/// The entries of a WARC file, assembled from its records on demand.
final class WARCEntries {
  private let path: String
  private let index: WARCIndex
  private let bodies: WARCCursor
  /// Reads the records that accompany those with bodies. A second cursor keeps either from seeking back.
  private let others: WARCCursor

  /// The records that are no entries.
  var omissions: [ArchiveOmission] { index.omissions }

  /// The number of entries.
  private var count: Int { index.entries.count }

  /// Returns the number of entries, which the index has already.
  ///
  /// - Throws: The damage that ended the index early.
  func countAll() throws -> Int64 {
    if let damage = index.damage { throw damage }
    return Int64(count)
  }

  /// Reads the file once.
  ///
  /// - Throws: ``ResponseArchiveError`` for a limit, or any error from reading the file.
  init(_ file: FileBytes, limits: ArchiveLimits, path: String) throws {
    self.path = path
    var start = [UInt8](repeating: 0, count: ContentCoding.longestMark)
    let count = try file.read(&start, 0)
    let coding = ContentCoding(ofDataBeginningWith: start[..<count])
    var indexing = try WARCIndexing(file, coding, limits: limits, path: path)
    index = try indexing.run()
    bodies = WARCCursor(file, coding)
    others = WARCCursor(file, coding)
  }

  /// Calls `body` with each entry.
  ///
  /// - Parameter readsBodies: Whether most bodies will be read. Otherwise even a short one is only read when it is wanted.
  /// - Throws: ``ResponseArchiveError`` if the file is damaged, or any error that `body` throws.
  func forEach(readsBodies: Bool, _ body: (RawResponse) throws -> ScanStep) throws {
    for number in index.entries.indices {
      WorkCounter.add()
      if try body(response(number, readsBody: readsBodies)) == .stop { return }
    }
    if let damage = index.damage { throw damage }
  }

  /// Calls `body` with each entry that has one of some numbers.
  func forEach(of numbers: [Int64], _ body: (RawResponse) throws -> ScanStep) throws {
    for number in numbers where number >= 1 && number <= Int64(count) {
      if try body(response(Int(number) - 1, readsBody: true)) == .stop { return }
    }
  }

  private func response(_ number: Int, readsBody: Bool) throws -> RawResponse {
    try translatingErrors {
      try makeResponse(index.entries[number], readsBody: readsBody).raw(id: Int64(number + 1))
    }
  }

  private func makeResponse(_ entry: WARCIndex.Entry, readsBody: Bool) throws -> NewResponse {
    let record = try (entry.record == entry.body ? bodies : others).record(at: entry.record)
    guard let url = record.header.targetURI, let date = record.header.date else {
      throw WARCError("a record disappeared")
    }
    var payload = try WARCPayload(record)
    if entry.hasHeadOfBody { payload = try WARCPayload(bodies.record(at: entry.body)) }
    let headers = payload.head.headers
    let body = try body(of: entry, payload, readsBody: readsBody)
    var response = NewResponse(
      url: url, status: payload.status ?? 200,
      headers: entry.isRenamed ? WARCLabel.original(headers) : headers, stored: date, body: body)
    if let place = entry.request {
      try readRequest(at: place, isRenamed: entry.isRenamed, into: &response.request)
    }
    return response
  }

  private func readRequest(
    at place: WARCInput.Place, isRenamed: Bool, into request: inout StoredResponse.Request
  ) throws {
    let record = try others.record(at: place)
    request.url = record.header.targetURI ?? request.url
    guard let head = try HTTPMessageHead.read({ try record.line(upTo: $0) }) else { return }
    request.method = head.method ?? request.method
    request.headers = head.headers
    if isRenamed {
      request.headers = WARCLabel.original(head.headers)
      // The export adds `Host`; it was not in the cache.
      request.headers?.fields.removeAll { $0.name == "Host" }
    }
    let body = try record.block(upTo: WARCIndex.largestInMemory)
    request.body = body.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Returns the body of an entry.
  ///
  /// - Parameters:
  ///   - payload: What was read of its record.
  ///   - readsBody: Whether to read a short body immediately.
  private func body(
    of entry: WARCIndex.Entry, _ payload: WARCPayload, readsBody: Bool
  ) throws -> Body {
    let isThere = entry.record == entry.body || entry.hasHeadOfBody
    guard readsBody, entry.size <= WARCIndex.largestInMemory else {
      let sha256 = String(decoding: Base16.encode(entry.sha256), as: UTF8.self)
      let opening = bodies.opening
      var body = Body(size: entry.size, sha256: sha256.isEmpty ? nil : sha256) { [self] in
        let readsOn = isThere && bodies.readsOn(opening)
        return try makeReader(ofBodyOf: entry, continuing: readsOn ? payload : nil)
      }
      body.isVerified = true
      return body
    }
    let whole = try isThere ? payload : WARCPayload(bodies.record(at: entry.body))
    let reader = try whole.body(areBodiesDecoded: entry.isBodyDecoded)
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: Int(min(entry.size.bytes + 1, 1 << 16)))
    while case let count = try reader.read(into: &buffer), count > 0 {
      bytes += buffer[..<count]
      guard ByteCount(bytes.count) <= entry.size else { break }
    }
    guard ByteCount(bytes.count) == entry.size else {
      throw WARCError("a record disappeared")
    }
    return Body(bytes)
  }

  private func makeReader(
    ofBodyOf entry: WARCIndex.Entry, continuing payload: WARCPayload?
  ) throws -> BodyReader {
    let reader = try translatingErrors {
      try (payload ?? WARCPayload(bodies.record(at: entry.body)))
        .body(areBodiesDecoded: entry.isBodyDecoded)
    }
    return BodyReader(size: entry.size) { [self] buffer in
      try translatingErrors { try reader.read(into: &buffer) }
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
