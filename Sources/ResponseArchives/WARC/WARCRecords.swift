import Archive
import Bytes
import Files
import HTTPCaching
import ResponseStorage

/// The records of an exported entry: its request, if known, and its response.
///
/// If the body is in memory, they are safe to send to another thread: only a body that is read from the store is tied to
/// one thread. The compiler cannot know that, hence `@unchecked`.
struct WARCRecords: @unchecked Sendable {
  private let id: Int64
  private let response: StoredResponse
  private let uri: EscapedURI
  private let date: Timestamp
  private var body: Body?

  init(_ entry: ExportedEntry, _ uri: EscapedURI, date: Timestamp) {
    (id, response, body) = (entry.raw.id, entry.response, entry.body)
    (self.uri, self.date) = (uri, date)
  }

  /// Returns the records with the body in memory.
  func inMemory() throws -> WARCRecords {
    var records = self
    records.body = try body?.inMemory()
    return records
  }

  /// Writes the records.
  func write(to warc: WARCWriter) throws -> WARCExport.Capture {
    // A `response` record holds a message of the protocol of its URI (WARC 1.1, "'resource'"). For
    // `data:` and custom schemes there is none, so only the body is stored.
    let head = uri.isOfHTTP ? HTTPMessageHead(response, bodySize: body?.size).bytes : []
    var digest = Digest()
    digest.update(head[...])
    let body = try body?.measured { digest.update($0) }
    let payloadDigest = "sha256:\(body?.sha256 ?? Digest().hexadecimal)"
    let header = responseHeader(payloadDigest: payloadDigest)
    let size = ByteCount(head.count) + (body?.size ?? 0)
    // The id of the response is derived from its other fields, so the request can refer to it before it is written.
    try writeRequest(to: warc, concurrentTo: header.completed(digest, size))
    let place = try warc.append(header, blockDigest: digest, blockLength: size) { append in
      try append(head[...])
      try body?.forEachVerifiedChunk(append)
    }
    return WARCExport.Capture(
      uri: uri.bytes, date: date,
      mimeType: response.mimeType ?? response.responseHeaders?.mediaType,
      status: uri.isOfHTTP ? response.status : nil, payloadDigest: payloadDigest,
      place: place)
  }

  private func writeRequest(to warc: WARCWriter, concurrentTo response: WARCHeader) throws {
    let request = self.response.request
    let target = request.url.flatMap { EscapedURI(absolute: $0) } ?? uri
    guard target.isOfHTTP, let head = HTTPMessageHead(request, of: target) else { return }
    let header = WARCHeader([
      ("WARC-Type", Array("request".utf8)), ("WARC-Date", date.warcDate),
      ("WARC-Target-URI", target.bytes),
      ("WARC-Concurrent-To", response["warc-record-id"]?.bytes ?? []),
      ("Content-Type", Array("application/http;msgtype=request".utf8)),
    ])
    try warc.append(header, head.bytes + (request.body ?? []))
  }

  private func responseHeader(payloadDigest: String) -> WARCHeader {
    let type = uri.isOfHTTP ? "response" : "resource"
    let media = response.mimeType?.bytes ?? Array("application/octet-stream".utf8)
    var fields: [(StaticString, [UInt8])] = [
      ("WARC-Type", Array(type.utf8)), ("WARC-Date", date.warcDate),
      ("WARC-Target-URI", uri.bytes), ("Urlcache-Entry-ID", Array("\(id)".utf8)),
      // SHA-256 in hexadecimal: warcio and FastWARC verify it, and SHA-1 is no protection against
      // crafted collisions.
      ("WARC-Payload-Digest", Array(payloadDigest.utf8)),
    ]
    // Otherwise a reader would take the missing body for an empty one.
    if body == nil { fields.append(("WARC-Truncated", Array("unspecified".utf8))) }
    fields.append(
      ("Content-Type", uri.isOfHTTP ? Array("application/http;msgtype=response".utf8) : media))
    return WARCHeader(fields)
  }
}

/// Opens records of a WARC file at known places.
final class WARCCursor {
  private let file: FileBytes
  private let coding: ContentCoding?
  private var input: WARCInput?
  private var backwardBytes: ByteCount = 0
  /// The number of the last opening of a record.
  private(set) var opening = 0
  /// Whether at most the head of that record was read.
  private var isUnread = false

  /// The maximum number of bytes decoded only to reach records inside a gzip member. A hostile file could make every
  /// record refer back to the start of one large member.
  private static let mostBackwardBytes = ByteCount(4 << 30)

  init(_ file: FileBytes, _ coding: ContentCoding?) {
    self.file = file
    self.coding = coding
  }

  /// Opens the record at a place.
  ///
  /// - Throws: ``WARCError``, or what reading throws.
  func record(at place: WARCInput.Place) throws -> WARCReader {
    opening += 1
    isUnread = false
    // Reading on is much cheaper than starting a gzip member again: a file may be one single
    // member, although the specification wants one for each record.
    let there = try input?.advance(to: place) ?? false
    if !there {
      backwardBytes += ByteCount(place.offset)
      guard backwardBytes <= Self.mostBackwardBytes else {
        throw WARCError("too many records refer back to one gzip member")
      }
      input = nil
      input = try WARCInput(file, coding, from: place)
    }
    guard let input, case let reader = WARCReader(input, indexing: false), try reader.next() else {
      throw WARCError("a record disappeared")
    }
    isUnread = true
    return reader
  }

  /// Returns, once for each opening, whether its record can be read further.
  func readsOn(_ opening: Int) -> Bool {
    guard opening == self.opening, isUnread else { return false }
    isUnread = false
    return true
  }
}
