import Archive
import Bytes
import Files
import ResponseStorage

/// Reads a whole WARC file once, verifies its digests, and finds the records that become entries.
///
/// Bodies are decoded to learn their sizes, and discarded. Only places and marks of records are kept.
struct WARCIndexing {
  private let path: String
  private let limits: ArchiveLimits
  private let reader: WARCReader
  private let fileSize: @Sendable () -> ByteCount
  private let progress: WARCInput.Progress
  private var contentBytes: ByteCount = 0
  private var recordCount: Int64 = 0
  private var sequence = WARCSequence()
  private var found = WARCCandidates()
  private let heads: WARCHeadCopies
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  /// Starts indexing a file.
  ///
  /// - Parameter temporaryFolder: The folder for the copies of heads.
  init(
    _ file: FileBytes, _ coding: ContentCoding?, limits: ArchiveLimits, path: String,
    temporaryFolder: String
  ) throws {
    self.path = path
    heads = WARCHeadCopies(in: temporaryFolder)
    self.limits = limits
    fileSize = file.size
    // The ratio is compared with what was read so far. With the size of the whole file, a bomb at
    // the beginning of a large file would pass.
    progress = WARCInput.Progress()
    let input = WARCInput(whole: file, coding, counting: progress)
    reader = WARCReader(input, indexing: true)
  }

  /// Reads the file.
  ///
  /// - Throws: ``ResponseArchiveError`` for a limit, or any error from reading the file. Damage is no error: the
  ///   index contains the entries before it.
  mutating func run() throws -> WARCIndex {
    var damage: (any Error)?
    do {
      while try reader.next() { try readRecord() }
      try sequence.end()
    } catch let error as WARCError {
      damage = ResponseArchiveError(.damaged, at: path, "\(error)")
    } catch let error as ContentDecodingError {
      guard error.kind != .tooLarge else {
        throw ResponseArchiveError(
          .limit, at: path, "it exceeds the limit 'member' of \(limits[.member])")
      }
      damage = ResponseArchiveError(.damaged, at: path, "\(error)")
    }
    var index = found.makeIndex()
    index.damage = damage
    index.heads = heads.finish()
    // Many revisits of one body can also turn a small file into large output.
    let bytes = index.entries.indices.reduce(0 as ByteCount) { $0 + index.entries[$1].size }
    try check(bytes, outOf: fileSize())
    return index
  }

  // MARK: - Records

  private mutating func readRecord() throws {
    recordCount += 1
    try limits.check(recordCount, .members, at: path)
    try limits.check(reader.blockLength, .member, at: path)
    switch reader.header.type {
    case "warcinfo": try sequence.begin(reader)
    case "metadata": try sequence.readEnd(reader)
    case "request": try readRequest()
    case "response", "resource", "revisit":
      try sequence.check(reader.header, isEntry: true)
      try readResponse()
    // This program writes no other types, so in its files any other type is a damaged one.
    default: try sequence.check(reader.header, isEntry: false)
    }
    try passOver()
  }

  private mutating func readRequest() throws {
    let header = reader.header
    try sequence.check(header, isEntry: false)
    // Each request is kept until all records are known, so requests without responses would take
    // memory without a limit.
    try limits.check(found.requestCount, .entries, at: path)
    var record = WARCIndex.Record(place: reader.place)
    guard header.hasHTTPBlock, let uri = header.targetURI,
      let head = try HTTPMessageHead.read({ try reader.line(upTo: $0) })
    else { return }
    record.copy = heads.append(reader.head)
    found.addRequest(
      .init(
        record: record, isGET: head.method.map { $0 == "GET" } ?? true,
        key: WARCMark(AppleCacheKey(of: uri).text)), header)
    // A cache stores the body of a request, too.
    if let body = try reader.block(upTo: WARCIndex.largestInMemory) { _ = heads.append(body) }
  }

  private mutating func readResponse() throws {
    let header = reader.header
    try limits.check(found.count, .entries, at: path)
    guard let uri = header.targetURI, header.isOfHTTP else {
      return found.omissions.add("its URL is not an HTTP URL")
    }
    // Every record must have a date. Without it there is no time of storing, and the age of the
    // entry would be unknown.
    guard let date = header.date else { throw WARCError("a record has no date") }
    let record = WARCIndex.Record(place: reader.place)
    var entry = WARCIndex.Entry(
      record: record, body: record, isBodyDecoded: sequence.isOurs, isRenamed: sequence.isOurs)
    let key = WARCMark(AppleCacheKey(of: uri).text)
    do {
      if header.type == "revisit" {
        if let omission = try readRevisit(into: &entry) { throw omission }
        return found.addRevisit(entry, header, of: key, date)
      }
      // The body is read even if the status rules the response out: its digest must be verified,
      // and a revisit may refer to it.
      let omission = Self.omission(ofStatus: try readBody(into: &entry))
      found.addResponse(entry, header, of: key, date, makesEntry: omission == nil)
      if let omission { throw omission }
    } catch let error as HTTPBodyError {
      found.omissions.add(error.description, isPart: error.isPart)
    }
  }

  /// Reads the header fields of a response whose body is in another record.
  ///
  /// - Returns: Why a cache would not store it, or `nil` if it would.
  private func readRevisit(into entry: inout WARCIndex.Entry) throws -> HTTPBodyError? {
    let payload = try readHead(of: &entry)
    entry.hasHeadOfBody = payload.status == nil || payload.status == 304
    return entry.hasHeadOfBody ? nil : Self.omission(ofStatus: payload.status)
  }

  /// Reads the head of a response, and copies it.
  private func readHead(of entry: inout WARCIndex.Entry) throws -> WARCPayload {
    let payload = try WARCPayload(reader)
    entry.record.copy = heads.append(reader.head)
    entry.body = entry.record
    return payload
  }

  /// Returns why a cache would not store a response with a status, or `nil` if it would.
  private static func omission(ofStatus status: Int64?) -> HTTPBodyError? {
    switch status {
    case nil: HTTPBodyError("it is not an HTTP response")
    // Both are about a part or a confirmation of another response. Served from a cache as a whole
    // response, they would be wrong.
    case 206?: HTTPBodyError("it has only part of the content (status 206)", isPart: true)
    case 304?: HTTPBodyError("it only confirms a stored response (status 304)")
    case let status? where !(200...599 ~= status):
      HTTPBodyError("its status is not a final status")
    default: nil
    }
  }

  /// Reads the body of a record, and verifies its digest.
  ///
  /// - Returns: The status.
  private mutating func readBody(into entry: inout WARCIndex.Entry) throws -> Int64? {
    let payload = try readHead(of: &entry)
    let digests = try payload.digests(areBodiesDecoded: entry.isBodyDecoded)
    // The index needs a digest of a large body, which is usually computed already.
    let mayBeLarge = digests.isCoded || reader.blockLength > WARCIndex.largestInMemory
    var digest = mayBeLarge && digests.decoded?.isSHA256 != true ? Digest() : nil
    do {
      let body = try payload.body(
        areBodiesDecoded: entry.isBodyDecoded, limit: ByteCount(limits[.member]), into: digests)
      while case let count = try body.read(into: &buffer), count > 0 {
        digest?.update(buffer[..<count])
        digests.decoded?.update(buffer[..<count])
        entry.size += ByteCount(count)
        contentBytes += ByteCount(count)
        try checkTotals()
      }
    } catch let error as HTTPBodyError {
      // A body that cannot be decoded is skipped, and the records after it are read. So the rest of
      // this one has to be read here.
      try payload.drain(into: digests)
      throw error
    }
    try payload.drain(into: digests)
    guard digests.areRight else {
      throw WARCError("a record does not match the digest of its payload")
    }
    if entry.size > WARCIndex.largestInMemory {
      entry.sha256 = digest?.bytes ?? digests.decoded?.bytes ?? []
    }
    if let reason = incompleteness(of: payload, size: entry.size) {
      throw HTTPBodyError(reason, isPart: true)
    }
    return payload.status
  }

  /// Returns why a body is incomplete, or `nil` if it is complete.
  private func incompleteness(of payload: WARCPayload, size: ByteCount) -> String? {
    let header = reader.header
    if header["warc-truncated"] != nil { return "it was truncated when it was recorded" }
    // The other segments are in records of their own, and often in other files. Nothing here joins
    // them.
    if header["warc-segment-number"] != nil { return "it is only a segment" }
    let headers = payload.head.headers
    // In coded bodies, and in records of this program, Content-Length is not the size of the decoded body.
    guard header.hasHTTPBlock, !sequence.isOurs,
      headers.firstValue(named: "content-encoding") == nil,
      let length = headers.firstValue(named: "content-length"),
      let length = Int64(digits: length.bytes[...]), ByteCount(length) > size
    else { return nil }
    return "it is shorter than its Content-Length"
  }

  private func passOver() throws {
    while try !reader.read().isEmpty { try checkTotals() }
    try reader.finishBlock()
    try checkTotals()
  }

  /// Checks the size and ratio of the decoded data.
  private func checkTotals() throws {
    try check(max(progress.decoded, contentBytes), outOf: progress.read)
  }

  /// Checks a decoded size against the limits of total size and ratio.
  private func check(_ bytes: ByteCount, outOf source: ByteCount) throws {
    try limits.check(bytes, .total, at: path)
    try limits.checkRatio(bytes, outOf: source, at: path)
  }
}
