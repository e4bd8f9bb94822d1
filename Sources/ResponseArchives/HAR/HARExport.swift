import Bytes
import HTTPCaching
import ResponseStorage

/// Writes an archive in HAR 1.2, as the developer tools of browsers open it.
///
/// Source: <http://www.softwareishard.com/blog/har-12-spec/>. What only a cache knows is in members whose
/// names begin with `_`, which that page leaves to applications.
final class HARExport: ResponseArchiveWriter {
  /// The one page that all entries refer to: Safari opens no file without pages.
  private static let page = "cache"

  private let write: ([UInt8]) throws -> Void
  private let created: Timestamp
  private let temporaryFolder: String
  private var json = JSONWriter()
  private var isFirst = true

  init(for export: ArchiveExport, writing write: @escaping ([UInt8]) throws -> Void) throws {
    self.write = write
    created = export.created ?? .epoch
    temporaryFolder = export.temporaryFolder
    json.object { json in
      json.member("version") { $0.string("1.2") }
      json.member("creator") { json in
        json.object { json in
          json.member("name") { $0.string("urlcache-admin") }
          json.member("version") { $0.string(export.generatorVersion) }
        }
      }
      json.member("pages") { $0.array([created]) { Self.page(&$0, started: $1) } }
      json.member("comment") { $0.string(Self.comment) }
    }
    // The entries come later, one by one.
    var head = json.take()
    head.removeLast()
    try write(Array("{\"log\":".utf8) + head + Array(",\"entries\":[".utf8))
  }

  private static let comment =
    "What a URLCache had stored. The time of an entry is when it was stored; how long it took is not known."

  private static func page(_ json: inout JSONWriter, started: Timestamp) {
    json.object { json in
      json.member("startedDateTime") { $0.time(started) }
      json.member("id") { $0.string(page) }
      json.member("title") { $0.string("URLCache") }
      json.member("pageTimings") { json in
        json.object { json in
          json.member("onContentLoad") { $0.integer(-1) }
          json.member("onLoad") { $0.integer(-1) }
        }
      }
    }
  }

  func append(_ entry: ExportedEntry) throws -> String? {
    guard let url = entry.response.url ?? entry.response.request.url ?? entry.response.key else {
      return "it has no URL"
    }
    try write(Array((isFirst ? "\n" : ",\n").utf8))
    isFirst = false
    try json.object { json in
      json.member("pageref") { $0.string(Self.page) }
      json.member("startedDateTime") { json in
        json.preciseTime(entry.response.stored ?? entry.response.firstStored ?? created)
      }
      json.member("time") { $0.integer(0) }
      json.member("request") { HARMessage(entry.response).request(of: url, &$0) }
      try json.member("response") { try response(entry, &$0) }
      json.member("cache") { $0.object { _ in } }
      json.member("timings") { json in
        json.object { json in
          for name in ["blocked", "dns", "connect", "ssl"] {
            json.member(named: name) { $0.integer(-1) }
          }
          for name in ["send", "wait", "receive"] { json.member(named: name) { $0.integer(0) } }
        }
      }
      json.member("_urlcache") { HARMessage(entry.response).extras(of: url, &$0) }
      if !entry.warnings.isEmpty {
        json.member("comment") { $0.string(entry.warnings.joined(separator: "; ")) }
      }
    }
    try write(json.take())
    return nil
  }

  private func response(_ entry: ExportedEntry, _ json: inout JSONWriter) throws {
    try json.object { json in
      let message = HARMessage(entry.response)
      message.responseHead(&json)
      try json.member("content") { json in
        try json.object { json in
          json.member("size") { $0.byteCount(entry.body?.size ?? entry.response.bodySize ?? 0) }
          json.member("mimeType") { $0.utf8(message.contentType) }
          if let body = entry.body { try content(body, isText: message.isText, &json) }
        }
      }
      json.member("redirectURL") { $0.utf8(message.location) }
      // The cache does not keep how long the coded message was.
      for name in ["headersSize", "bodySize"] { json.member(named: name) { $0.integer(-1) } }
    }
  }

  /// Writes a body: as text if it is one in UTF-8, else in Base64.
  private func content(_ body: Body, isText: Bool, _ json: inout JSONWriter) throws {
    var check = UTF8Check()
    var body = body
    if isText { body = try body.measured(keepingIn: temporaryFolder) { check.append($0) } }
    guard isText, check.finish() else {
      json.member("encoding") { $0.string("base64") }
      return try json.member("text") { json in
        var encoder = Base64.Encoder()
        try json.string { json in
          try body.forEachVerifiedChunk { chunk in
            try write(json.take())
            json.characters(encoder.encode(chunk))
          }
          json.characters(encoder.finish())
        }
      }
    }
    try json.member("text") { json in
      var boundary = ScalarBoundary()
      try json.string { json in
        try body.forEachVerifiedChunk { chunk in
          try write(json.take())
          json.characters(boundary.cut(chunk))
        }
      }
    }
  }

  func finish(_ summary: ArchiveExport.Summary) throws {
    try write(Array("\n]}}\n".utf8))
  }
}

extension JSONWriter {
  /// Writes text; bytes that are not UTF-8 are percent-escaped, as they would be in a URL.
  mutating func utf8(_ text: ByteString) {
    guard text.string == nil else { return string(text.bytes) }
    string(text.bytes.percentEscaped { $0 < 0x80 })
  }
}
