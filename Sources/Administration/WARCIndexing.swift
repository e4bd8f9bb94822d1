import Archive
import Files
import ResponseStorage

/// Reads all of a WARC file once, compares its digests, and finds out which records make entries.
///
/// Bodies are decoded, as their sizes must be known, and forgotten. What is kept of a record are places
/// and marks.
struct WARCIndexing {
  private let path: String
  private let limits: ArchiveLimits
  private let reader: WARCReader
  private let fileSize: Int64
  private let progress: WARCInput.Progress
  private var contentBytes: Int64 = 0
  private var recordCount: Int64 = 0
  private var sequence = WARCSequence()
  private var found = WARCCandidates()

  init(_ file: FileBytes, _ coding: ContentCoding?, limits: ArchiveLimits, path: String) throws {
    self.path = path
    self.limits = limits
    fileSize = file.size
    progress = WARCInput.Progress()
    let input = try WARCInput(file, coding, counting: progress)
    reader = WARCReader(input, verifying: true)
  }

  /// Reads the file.
  ///
  /// - Throws: ``ResponseArchiveError`` for a limit, or what reading the file throws. What is damaged is no
  ///   error here: the index holds what came before.
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
          .limit, at: path, "it is beyond the limit 'member', which is \(limits[.member])")
      }
      damage = ResponseArchiveError(.damaged, at: path, "\(error)")
    }
    var index = found.makeIndex()
    index.damage = damage
    // Revisits can make much of little, too.
    let bytes = index.entries.reduce(0 as Int64) { $0.addingClamped($1.size) }
    try limits.check(bytes, .total, at: path)
    if bytes > ArchiveLimits.ratioThreshold {
      try limits.check(bytes / max(1, fileSize), .ratio, at: path)
    }
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
    default: break
    }
    try passOver()
  }

  private mutating func readRequest() throws {
    let header = reader.header
    try sequence.check(header, isEntry: false)
    try limits.check(found.requestCount, .entries, at: path)
    let place = reader.place
    guard header.hasHTTPBlock, let uri = header.targetURI,
      let head = try HTTPMessageHead.read({ try reader.line(upTo: $0) })
    else { return }
    found.addRequest(
      .init(
        place: place, isGET: head.method.map { $0 == "GET" } ?? true,
        key: WARCMark(AppleCacheKey(of: uri).text)), header)
  }

  private mutating func readResponse() throws {
    let header = reader.header
    try limits.check(found.count, .entries, at: path)
    guard let uri = header.targetURI, header.isOfHTTP else {
      return found.omissions.add("it is not of a URL of HTTP")
    }
    guard let date = header.date else { throw WARCError("a record has no date") }
    let entry = WARCIndex.Entry(
      record: reader.place, body: reader.place, isBodyDecoded: sequence.isOurs,
      isRenamed: sequence.isOurs, size: 0, sha256: [])
    var candidate = WARCCandidates.Candidate(
      entry: entry, id: header["warc-record-id"].map { WARCMark($0) },
      concurrent: header.concurrentIDs.map { WARCMark($0) },
      key: WARCMark(AppleCacheKey(of: uri).text), date: date)
    do {
      if header.type == "revisit" { return try readRevisit(candidate, header) }
      let status = try readBody(into: &candidate.entry)
      found.addBody(candidate.entry, header)
      if let reason = Self.omission(ofStatus: status) { return found.omissions.add(reason) }
      found.add(candidate)
    } catch let error as HTTPBodyError {
      found.omissions.add(error.description)
    }
  }

  private mutating func readRevisit(
    _ candidate: WARCCandidates.Candidate, _ header: WARCHeader
  ) throws {
    var candidate = candidate
    let payload = try WARCPayload(reader)
    candidate.entry.hasHeadOfBody = payload.status == nil || payload.status == 304
    if !candidate.entry.hasHeadOfBody, let reason = Self.omission(ofStatus: payload.status) {
      return found.omissions.add(reason)
    }
    found.addRevisit(candidate, header)
  }

  /// Why a cache would not store a response of a status.
  private static func omission(ofStatus status: Int64?) -> String? {
    switch status {
    case nil: "it is no response of HTTP"
    case 206?: "it is only a part of its content (status 206)"
    case 304?: "it only says that nothing has changed (status 304)"
    case let status? where !(200...599 ~= status): "its status is not that of a final response"
    default: nil
    }
  }

  /// Reads the body of a record, and compares its digest.
  ///
  /// - Returns: The status.
  private mutating func readBody(into entry: inout WARCIndex.Entry) throws -> Int64? {
    let header = reader.header
    let payload = try WARCPayload(reader)
    let digests = try WARCPayloadDigests(header)
    var digest = Digest()
    do {
      let body = try payload.body(
        areBodiesDecoded: entry.isBodyDecoded, limit: limits[.member], into: digests)
      while case let piece = try body.take(), !piece.isEmpty {
        digest.update(piece)
        digests.decoded?.update(piece)
        entry.size += Int64(piece.count)
        contentBytes += Int64(piece.count)
        try checkTotals()
      }
    } catch let error as HTTPBodyError {
      try payload.drain(into: digests)
      throw error
    }
    try payload.drain(into: digests)
    guard digests.areRight else {
      throw WARCError("a record does not match the digest of its payload")
    }
    entry.sha256 = digest.bytes
    if header["warc-truncated"] != nil {
      throw HTTPBodyError("it was cut short when it was recorded")
    }
    if header["warc-segment-number"] != nil { throw HTTPBodyError("it is only a segment") }
    if let length = payload.head.headers.firstValue(named: "content-length"), !sequence.isOurs,
      payload.head.headers.firstValue(named: "content-encoding") == nil,
      let length = Int64(digits: length.bytes[...]), length > entry.size,
      header.hasHTTPBlock
    {
      throw HTTPBodyError("it is shorter than its Content-Length says")
    }
    return payload.status
  }

  private func passOver() throws {
    while try !reader.take().isEmpty { try checkTotals() }
    try reader.finishBlock()
    try checkTotals()
  }

  /// Makes sure that not too much comes out of the file.
  private func checkTotals() throws {
    try limits.check(max(progress.decoded, contentBytes), .total, at: path)
    let bytes = max(progress.decoded, contentBytes)
    guard bytes > ArchiveLimits.ratioThreshold else { return }
    try limits.check(bytes / max(1, progress.read), .ratio, at: path)
  }
}
