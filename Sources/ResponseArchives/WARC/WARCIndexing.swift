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
  /// - Parameter folder: The folder for the copies of heads.
  init(
    _ file: FileBytes, _ coding: ContentCoding?, limits: ArchiveLimits, path: String,
    copyingHeadsTo folder: String = TemporaryFile.folder
  ) throws {
    self.path = path
    heads = WARCHeadCopies(in: folder)
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
    guard !["request", "response", "resource", "revisit"].contains(reader.header.type),
      !isBlockRight(isPayloadRight: nil)
    else { return }
    // In a file of this program, such a record says what the others are.
    guard !sequence.isOurs else { throw WARCError("a record \(Self.wrongBlock)") }
    addDamaged(Self.wrongBlock)
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
    let copy = reader.head
    // A cache stores the body of a request, too.
    let body = try reader.block(upTo: WARCIndex.largestInMemory)
    try passOver()
    guard isBlockRight(isPayloadRight: nil) else { return addDamaged(Self.wrongBlock) }
    record.copy = heads.append(copy)
    if let body { _ = heads.append(body) }
    found.addRequest(
      .init(
        record: record, isGET: head.method.map { $0 == "GET" } ?? true,
        isHEAD: head.method == "HEAD" && !sequence.isOurs,
        key: WARCMark(AppleCacheKey(of: uri).text)), header)
  }

  private static let wrongBlock = "does not match the digest of its block"
  private static let wrongPayload = "does not match the digest of its payload"

  /// Whether the block that was read to its end has the digest that its header names.
  ///
  /// - Parameter isPayloadRight: Whether the payload has the digest that the header names; `nil` if that is unknown.
  private func isBlockRight(isPayloadRight: Bool?) -> Bool {
    // Webrecorder of 2018 and 2019 wrote the digest of the payload for that of the block.
    let isOfPayload =
      reader.header["warc-block-digest"]?.asciiLowercased
      == reader.header["warc-payload-digest"]?.asciiLowercased
    return reader.isBlockDigestRight || isOfPayload && isPayloadRight ?? true
  }

  private mutating func addDamaged(_ reason: String) {
    found.omissions.add("it \(reason)", isPart: true)
    guard found.damaged.count < DamagedRecord.mostNamed else { return }
    let place = reader.place
    let offset = "byte \(place.member)"
    found.damaged.append(
      DamagedRecord(
        number: recordCount,
        place: place.offset == 0 ? offset : "byte \(place.offset) of the gzip member at \(offset)",
        url: reader.header.targetURI, reason: reason))
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
    var (content, failure) = (nil as Content?, nil as HTTPBodyError?)
    do {
      content =
        header.type == "revisit" ? try readRevisit(into: &entry) : try readBody(into: &entry)
    } catch let error as HTTPBodyError {
      failure = error
    }
    try passOver()
    guard content?.isRight ?? true else { return addDamaged(Self.wrongPayload) }
    guard isBlockRight(isPayloadRight: content?.isRight) else {
      return addDamaged(Self.wrongBlock)
    }
    if let content {
      failure = content.omission
      if header.type != "revisit" {
        found.addResponse(
          entry, header, of: key, date, makesEntry: failure == nil, lack: content.lack)
      } else if failure == nil {
        found.addRevisit(entry, header, of: key, date)
      }
    }
    if let failure { found.omissions.add(failure.description, isPart: failure.isPart) }
  }

  /// What was read of a response.
  private struct Content {
    /// Why a cache would not store the response, or `nil` if it would.
    var omission: HTTPBodyError?
    /// Whether the payload has the digest that the header names; `nil` if that is unknown.
    var isRight: Bool?
    /// What the record lacks of its body.
    var lack: WARCCandidates.Lack?
  }

  /// Reads the header fields of a response whose body is in another record.
  private func readRevisit(into entry: inout WARCIndex.Entry) throws -> Content {
    let payload = try readHead(of: &entry)
    entry.hasHeadOfBody = payload.status == nil || payload.status == 304
    return Content(omission: entry.hasHeadOfBody ? nil : Self.omission(ofStatus: payload.status))
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

  // The body is read even if the status rules the response out: its digest must be verified, and a revisit may refer to
  // it.
  /// Reads the body of a record, and compares its digest.
  private mutating func readBody(into entry: inout WARCIndex.Entry) throws -> Content {
    let payload = try readHead(of: &entry)
    let digests = payload.digests(areBodiesDecoded: entry.isBodyDecoded)
    let announced = announcedLength(of: payload)
    var start = announced.flatMap { length in
      reader.unreadLength > length ? BodyStart(length: length, payload: digests.decoded) : nil
    }
    // The index needs a digest of a large body, which is usually computed already.
    let mayBeLarge = digests.isCoded || reader.blockLength > WARCIndex.largestInMemory
    var digest = mayBeLarge && digests.decoded?.isSHA256 != true ? Digest() : nil
    do {
      let body = try payload.body(
        areBodiesDecoded: entry.isBodyDecoded, limit: ByteCount(limits[.member]), into: digests)
      while case let count = try body.read(into: &buffer), count > 0 {
        start?.update(buffer[..<count])
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
    var content = Content(
      isRight: digests.decoded == nil && digests.areRight ? nil : digests.areRight)
    // Recorders store bodies whose length was changed, and digests of them. So the digest of the whole decides first.
    if let start, content.isRight != true {
      content.isRight = start.payload.map(\.isRight)
      (entry.size, entry.isCut, digest) = (start.length, true, start.digest)
    }
    if entry.size > WARCIndex.largestInMemory {
      entry.sha256 = digest?.bytes ?? digests.decoded?.bytes ?? []
    }
    guard content.isRight ?? true else { return content }
    let isShort = announced.map { $0 > entry.size } ?? false
    if isShort, entry.size == 0 {
      content.lack = payload.isRedirect ? .bodyOfRedirect : .body
    }
    content.omission = Self.omission(ofStatus: payload.status)
    if let reason = incompleteness(isShort: isShort && entry.size > 0) {
      throw HTTPBodyError(reason, isPart: true)
    }
    return content
  }

  /// Returns why a body is incomplete, or `nil` if it is complete.
  private func incompleteness(isShort: Bool) -> String? {
    let header = reader.header
    if header["warc-truncated"] != nil { return "it was truncated when it was recorded" }
    // The other segments are in records of their own, and often in other files. Nothing here joins
    // them.
    if header["warc-segment-number"] != nil { return "it is only a segment" }
    return isShort ? WARCCandidates.shortBody : nil
  }

  /// Returns the length of the body that the message announces (RFC 9112 §6.3); `nil` if it announces none, or that of
  /// other bytes.
  private func announcedLength(of payload: WARCPayload) -> ByteCount? {
    // In coded bodies, and in records of this program, Content-Length is not the size of the decoded body.
    guard reader.header.hasHTTPBlock, !sequence.isOurs else { return nil }
    if payload.hasNoBody { return 0 }
    let headers = payload.head.headers
    guard headers.firstValue(named: "content-encoding") == nil,
      headers.firstValue(named: "transfer-encoding") == nil
    else { return nil }
    let lengths = headers.fields.filter { $0.name.equalsIgnoringASCIICase("content-length") }
    guard let length = lengths.first?.value, lengths.allSatisfy({ $0.value == length }) else {
      return nil
    }
    return Int64(digits: length.bytes[...]).map { ByteCount($0) }
  }

  /// The start of a body that is longer than its Content-Length.
  private struct BodyStart {
    /// The announced length.
    let length: ByteCount
    /// The digest of the start by the algorithm of the payload digest, if there is one.
    var payload: WARCDigest.Making?
    var digest = Digest()
    private var count: ByteCount = 0

    init(length: ByteCount, payload: WARCDigest.Making?) {
      (self.length, self.payload) = (length, payload)
    }

    mutating func update(_ bytes: ArraySlice<UInt8>) {
      let part = bytes.prefix(Int(clamping: (length - min(count, length)).bytes))
      count += ByteCount(part.count)
      if part.isEmpty { return }
      payload?.update(part)
      digest.update(part)
    }
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

/// The index of a WARC file: the places of the records that become entries.
struct WARCIndex: Sendable {
  /// A record that an entry needs.
  struct Record: Hashable {
    /// Its place in the file.
    var place: WARCInput.Place
    /// The offset of its head in ``heads``.
    var copy: Int64 = 0
  }

  /// A response, from one record or several.
  struct Entry: Sendable {
    /// The response or revisit record.
    var record: Record
    /// The record with the body; for a revisit, a different one.
    var body: Record
    /// The request record.
    var request: Record?
    /// Whether to use the header fields of the record with the body.
    var hasHeadOfBody = false
    /// Whether the body was stored without its codings.
    var isBodyDecoded: Bool
    /// Whether this program wrote the record and renamed header fields in it.
    var isRenamed: Bool
    /// Whether the body ends before the end of its record.
    var isCut = false
    /// The size of the body, without codings, in bytes.
    var size: ByteCount = 0
    /// The SHA-256 digest of the body; empty for bodies that are small enough to be read into memory.
    var sha256: [UInt8] = []
  }

  // A body in memory needs neither a digest in the index nor a second reading of its record.
  /// The size of the largest body that is read into memory, in bytes.
  static let largestInMemory = ByteCount(1 << 16)

  /// The entries, in the order of their records; no two have the same key.
  var entries: [Entry] = []

  /// The records that become no entry.
  var omissions: [ArchiveOmission] = []

  /// The first records that do not match their digest.
  var damaged: [DamagedRecord] = []

  /// The number of entries that are redirects whose bodies were not recorded.
  var redirectsWithoutBody: Int64 = 0

  /// The copies of the heads of the records; `nil` if there are none.
  var heads: FileBytes?

  /// The error that ended reading early, if any.
  var damage: (any Error)?
}
