import Archive
import Bytes
import Files
import HTTPCaching
import JSON
import ResponseStorage

/// Writes entries as a WARC 1.1 file (ISO 28500:2017): for each, its request, if known, and its response.
///
/// Bodies are written as stored, without codings. Header fields that describe the codings are renamed.
final class WARCExport: ResponseArchiveWriter {
  /// The index information about a response that was written.
  struct Capture: Sendable {
    var uri: [UInt8]
    var date: Timestamp
    var mimeType: ByteString?
    var status: Int64?
    var payloadDigest: String
    var place: Range<Int64>
  }

  private let warc: WARCWriter
  private let threads: OrderedParallelMap<WARCRecords, Never, Finished>
  private let time: Timestamp
  private let capture: (Capture) throws -> Void

  /// The records of a batch of entries, as in the file.
  private struct Finished: Sendable {
    var bytes: [UInt8]
    /// The places are relative to `bytes`.
    var captures: [Capture]
  }

  /// Starts a file.
  ///
  /// - Parameters:
  ///   - level: The compression level, 1 to 9; `nil` for no compression.
  ///   - capture: Receives each response that was written.
  init(
    level: Int?, for export: ArchiveExport,
    capturing capture: @escaping (Capture) throws -> Void = { _ in },
    writing write: @escaping ([UInt8]) throws -> Void
  ) throws {
    @Sendable func makeCompressor() throws -> DeflateCompressor? {
      try level.map { try DeflateCompressor(level: $0) }
    }
    warc = try WARCWriter(makeCompressor(), writing: write)
    time = export.created ?? .epoch
    self.capture = capture
    threads = OrderedParallelMap("WARCExport") {
      let compressor = try makeCompressor()
      return { batch, _ in
        var bytes: [UInt8] = []
        let writer = WARCWriter(compressor) { bytes += $0 }
        let captures = try batch.map { try $0.write(to: writer) }
        return Finished(bytes: bytes, captures: captures)
      }
    }
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

  /// The longest URL, in bytes: the header of a record has it, and little else.
  private static let longestURL = WARCHeader.largest - 4_096
  /// The longest header fields of a message, in bytes: a few may be added, and the start line has the URL.
  private static let longestFields = HTTPMessageHead.largest - 2 * WARCHeader.largest

  func append(_ entry: ExportedEntry) throws -> String? {
    let response = entry.response
    guard let url = response.url ?? response.request.url, let uri = EscapedURI(absolute: url) else {
      return "it has no URL"
    }
    // A status line needs a status of three digits (RFC 9112 §4).
    if uri.isOfHTTP, !(100...599 ~= response.status ?? 0) { return "it has no HTTP status" }
    // The import, and other readers, refuse what is longer, and with it the whole file.
    if uri.bytes.count > Self.longestURL { return "its URL is too long for a record of WARC" }
    for headers in [response.responseHeaders, response.request.headers].compactMap(\.self)
    where headers.fields.reduce(0, { $0 + $1.name.bytes.count + $1.value.bytes.count + 8 })
      > Self.longestFields
    {
      return "its header fields are too long for a record of WARC"
    }
    let records = WARCRecords(
      entry, uri, date: response.stored ?? response.firstStored ?? time)
    let size = entry.raw.byteCount
    if size <= Body.largestInMemory {
      threads.add(try records.inMemory(), byteCount: size)
      try appendFinished(all: false)
    } else {
      try appendFinished(all: true)
      try capture(records.write(to: warc))
    }
    return nil
  }

  /// Writes records that the threads have finished.
  ///
  /// - Parameter all: Whether to wait for all of them. If `false`, waits only while too many are queued.
  private func appendFinished(all: Bool) throws {
    try threads.forEachSummary(all: all) { finished in
      let start = try warc.append(finished: finished.bytes)
      for var response in finished.captures {
        response.place = response.place.lowerBound + start..<response.place.upperBound + start
        try capture(response)
      }
    }
  }

  func finish(_ summary: ArchiveExport.Summary) throws {
    try appendFinished(all: true)
    let header = WARCHeader([
      ("WARC-Type", Array("metadata".utf8)), ("WARC-Date", time.warcDate),
      ("Content-Type", Self.fields),
    ])
    // WARC files can be concatenated and cut at any record without a reader noticing. The number of
    // entries in a last record shows that nothing is missing.
    try warc.append(header, Array("\(WARCLabel.end)\(summary.entries)\r\n".utf8))
  }
}

extension WARCExport.Capture {
  /// The line of the CDXJ index, without a line feed.
  var indexLine: [UInt8] {
    let json = JSONWriter.bytes(.ascii) { json in
      json.object { json in
        json.member("url", repairing: uri)
        json.member("mime", repairing: mimeType?.bytes ?? Array("unk".utf8))
        // Numbers are strings, as cdxj-indexer writes them. Readers accept both.
        json.member("status", status.map { "\($0)" } ?? "200")
        json.member("digest", payloadDigest)
        json.member("length", "\(place.count)")
        json.member("offset", "\(place.lowerBound)")
        json.member("filename", WACZ.warcName)
      }
    }
    return SURT.make(of: uri) + [0x20] + date.warcDigits + [0x20] + json
  }

  /// Whether the response is a page that a reader can start from.
  var isPage: Bool {
    let types: [ByteString] = ["text/html", "application/xhtml+xml"]
    return status == 200 && mimeType.map { types.contains($0.asciiLowercased) } ?? false
  }

  /// The line of the list of pages.
  var pageLine: [UInt8] {
    JSONWriter.bytes(.ascii) { json in
      json.object { json in
        json.member("id", NameUUID.make(of: uri + date.warcDate))
        json.member("url", repairing: uri)
        json.member("ts", repairing: date.warcDate)
        // Validators reject a page without a title.
        json.member("title", repairing: uri)
      }
      json.endLine()
    }
  }
}
