import Bytes
import Files
import HTTPCaching
import ResponseStorage

/// Writes entries as a WARC 1.1 file (ISO 28500:2017): for each, its request, if known, and its response.
///
/// Bodies are written as stored, without codings. Header fields that describe the codings are renamed.
final class WARCExport: ResponseArchiveWriter {
  /// The index information about a response that was written.
  struct Capture {
    var uri: [UInt8]
    var date: Timestamp
    var mimeType: ByteString?
    var status: Int64?
    var payloadDigest: String
    var place: Range<Int64>
  }

  private let warc: WARCWriter
  private let time: Timestamp
  private let temporaryFolder: String
  private let capture: (Capture) throws -> Void

  /// Starts a file.
  ///
  /// - Parameters:
  ///   - level: The compression level; `nil` for no compression.
  ///   - capture: Receives each response that was written.
  init(
    level: Int?, for export: ArchiveExport,
    capturing capture: @escaping (Capture) throws -> Void = { _ in },
    writing write: @escaping ([UInt8]) throws -> Void
  ) throws {
    warc = try WARCWriter(level: level, writing: write)
    time = export.created ?? .epoch
    temporaryFolder = export.temporaryFolder
    self.capture = capture
    let description = """
      software: \(WARCLabel.software)\(export.generatorVersion)\r
      format: WARC File Format 1.1\r
      conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r
      description: entries of a URLCache, bodies without content codings\(
        export.credentials == nil ? "" : ", no cookies or credentials")\r

      """
    let header = WARCHeader([
      ("WARC-Type", Array("warcinfo".utf8)), ("WARC-Date", time.warcDate),
      ("Content-Type", Self.fields),
    ])
    try warc.append(header, Array(description.utf8))
  }

  private static let fields = Array("application/warc-fields".utf8)

  func append(_ entry: ExportedEntry) throws -> String? {
    let response = entry.response
    guard let url = response.url ?? response.request.url, let uri = EscapedURI(absolute: url) else {
      return "it has no URL"
    }
    // A status line needs a status of three digits (RFC 9112 §4).
    if uri.isOfHTTP, !(100...599 ~= response.status ?? 0) { return "it has no HTTP status" }
    let date = response.stored ?? response.firstStored ?? time
    let record = WARCResponseRecord(entry, uri, date)
    var digest = Digest()
    digest.update(record.head[...])
    let body = try entry.body?.measured(keepingIn: temporaryFolder) { digest.update($0) }
    let payloadDigest = "sha256:\(body?.sha256 ?? Digest().hexadecimal)"
    let header = record.header(payloadDigest: payloadDigest)
    let size = ByteCount(record.head.count) + (body?.size ?? 0)
    // The id of the response is derived from its other fields, so the request can refer to it before it is written.
    try appendRequest(entry, uri, date, concurrentTo: header.completed(digest, size))
    let place = try warc.append(header, blockDigest: digest, blockLength: size) { append in
      try append(record.head[...])
      try body?.forEachVerifiedChunk(append)
    }
    try capture(
      Capture(
        uri: uri.bytes, date: date,
        mimeType: response.mimeType ?? response.responseHeaders?.mediaType,
        status: uri.isOfHTTP ? response.status : nil, payloadDigest: payloadDigest,
        place: place))
    return nil
  }

  private func appendRequest(
    _ entry: ExportedEntry, _ uri: EscapedURI, _ date: Timestamp,
    concurrentTo response: WARCHeader
  ) throws {
    let request = entry.response.request
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

  func finish(_ summary: ArchiveExport.Summary) throws {
    let header = WARCHeader([
      ("WARC-Type", Array("metadata".utf8)), ("WARC-Date", time.warcDate),
      ("Content-Type", Self.fields),
    ])
    // WARC files can be concatenated and cut at any record without a reader noticing. The number of
    // entries in a last record shows that nothing is missing.
    try warc.append(header, Array("\(WARCLabel.end)\(summary.entries)\r\n".utf8))
  }
}

/// The response record of an exported entry.
private struct WARCResponseRecord {
  /// The HTTP head that precedes the body in the block.
  let head: [UInt8]

  private let entry: ExportedEntry
  private let uri: EscapedURI
  private let date: Timestamp

  init(_ entry: ExportedEntry, _ uri: EscapedURI, _ date: Timestamp) {
    self.entry = entry
    self.uri = uri
    self.date = date
    head = uri.isOfHTTP ? HTTPMessageHead(entry.response, bodySize: entry.body?.size).bytes : []
  }

  func header(payloadDigest: String) -> WARCHeader {
    // A `response` record holds a message of the protocol of its URI (WARC 1.1, "'resource'"). For
    // `data:` and custom schemes there is none, so only the body is stored.
    let type = uri.isOfHTTP ? "response" : "resource"
    let media = entry.response.mimeType?.bytes ?? Array("application/octet-stream".utf8)
    var fields: [(StaticString, [UInt8])] = [
      ("WARC-Type", Array(type.utf8)), ("WARC-Date", date.warcDate),
      ("WARC-Target-URI", uri.bytes), ("Urlcache-Entry-ID", Array("\(entry.raw.id)".utf8)),
      // SHA-256 in hexadecimal: warcio and FastWARC verify it, and SHA-1 is no protection against
      // crafted collisions.
      ("WARC-Payload-Digest", Array(payloadDigest.utf8)),
    ]
    // Otherwise a reader would take the missing body for an empty one.
    if entry.body == nil { fields.append(("WARC-Truncated", Array("unspecified".utf8))) }
    fields.append(
      ("Content-Type", uri.isOfHTTP ? Array("application/http;msgtype=response".utf8) : media))
    return WARCHeader(fields)
  }
}
