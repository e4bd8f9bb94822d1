import Bytes
import HTTPCaching
import JSON
import ResponseStorage

/// Writes entries as a HAR 1.2 file, for the developer tools of browsers.
///
/// Source: <http://www.softwareishard.com/blog/har-12-spec/>. Cache fields are in members whose names begin with `_`,
/// which the specification reserves for applications.
final class HARExport: ResponseArchiveWriter {
  // `pages` is optional in HAR 1.2, but Safari's Web Inspector reads the start time of the first
  // page without checking that there is one.
  /// The id of the one page that all entries refer to. Safari opens no HAR file without pages.
  private static let page = "cache"

  private let write: ([UInt8]) throws -> Void
  private let created: Timestamp
  private var json = JSONStream(.ascii)
  private var buffer: [UInt8] = []

  init(for export: ArchiveExport, writing write: @escaping ([UInt8]) throws -> Void) throws {
    self.write = write
    let created = export.created ?? .epoch
    self.created = created
    buffer.reserveCapacity(2_048)
    json.begin("entries", within: "log", in: &buffer) { json in
      json.member("version", "1.2")
      json.object("creator") { json in
        json.member("name", "urlcache-admin")
        json.member("version", export.generatorVersion)
      }
      json.array("pages") { json in
        json.object { Self.page(&$0, started: created) }
      }
      json.member("comment", Self.comment)
    }
    try flush()
  }

  private static let comment =
    "Exported from a URLCache. The time of an entry is when it was stored; durations are unknown."

  private static func page(_ json: inout JSONWriter, started: Timestamp) {
    json.member("startedDateTime", started)
    json.member("id", page)
    json.member("title", "URLCache")
    json.object("pageTimings") { json in
      json.member("onContentLoad", -1)
      json.member("onLoad", -1)
    }
  }

  func append(_ entry: ExportedEntry) throws -> String? {
    guard let url = entry.response.url ?? entry.response.request.url ?? entry.response.key else {
      return "it has no URL"
    }
    try json.append(to: &buffer) { json in
      try json.object { json in
        json.member("pageref", Self.page)
        json.member(
          "startedDateTime",
          toMilliseconds: entry.response.stored ?? entry.response.firstStored ?? created)
        // The sum of the timings, which are unknown: a cache stores when a response arrived, and
        // not how long it took.
        json.member("time", 0)
        HARMessage(entry.response).request(of: url, &json)
        try json.object("response") { try response(entry, &$0) }
        json.object("cache") { _ in }
        json.object("timings") { json in
          // -1 means unknown, but HAR requires `send`, `wait` and `receive` to be non-negative.
          json.member("blocked", -1)
          json.member("dns", -1)
          json.member("connect", -1)
          json.member("ssl", -1)
          json.member("send", 0)
          json.member("wait", 0)
          json.member("receive", 0)
        }
        HARMessage(entry.response).extras(of: url, &json)
        if !entry.warnings.isEmpty {
          json.member("comment", entry.warnings.joined(separator: "; "))
        }
      }
    }
    try flush()
    return nil
  }

  private func flush() throws {
    try write(buffer)
    buffer.removeAll(keepingCapacity: true)
  }

  private func response(_ entry: ExportedEntry, _ json: inout JSONWriter) throws {
    let message = HARMessage(entry.response)
    message.responseHead(&json)
    try json.object("content") { json in
      // The size of the decoded body, as HAR defines it. `Content-Encoding` stays in the header
      // fields although the stored body has no coding, just as browsers write it.
      json.member("size", entry.body?.size ?? entry.response.bodySize ?? 0)
      json.member("mimeType", percentEscaping: message.contentType)
      if let body = entry.body { try content(body, isText: message.isText, &json) }
    }
    json.member("redirectURL", percentEscaping: message.location)
    // The cache does not record the size of the message on the wire.
    json.member("headersSize", -1)
    json.member("bodySize", -1)
  }

  /// Writes a body as text if its media type is textual and it is valid UTF-8, otherwise as Base64.
  private func content(_ body: Body, isText: Bool, _ json: inout JSONWriter) throws {
    var check = UTF8Check()
    var body = body
    // `encoding` comes before `text`, so the whole body must be checked for UTF-8 before any of it is written.
    if isText { body = try body.measured { check.append($0) } }
    guard isText, check.finish() else {
      json.member("encoding", "base64")
      json.key("text")
      return try json.string { json in
        var encoder = Base64.Encoder()
        try body.forEachVerifiedChunk { chunk in
          try write(json.drain())
          json.characters(encoder.encode(chunk))
        }
        json.characters(encoder.finish())
      }
    }
    json.key("text")
    try json.string { json in
      // A chunk may end inside a UTF-8 sequence, and each piece of a JSON string must be valid.
      var boundary = ScalarBoundary()
      try body.forEachVerifiedChunk { chunk in
        try write(json.drain())
        json.characters(boundary.cut(chunk))
      }
    }
  }

  func finish(_ summary: ArchiveExport.Summary) throws {
    if json.isEmpty { json.append(to: &buffer) { $0.breakLine() } }
    json.end(in: &buffer)
    try flush()
  }
}
