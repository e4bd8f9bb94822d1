import Bytes

extension WARCExport.Capture {
  /// The line of a CDXJ index, without a line feed.
  var indexLine: [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.member("url") { $0.string(uri) }
      json.member("mime") { $0.string(mimeType?.bytes ?? Array("unk".utf8)) }
      json.member("status") { $0.string(status.map { "\($0)" } ?? "200") }
      json.member("digest") { $0.string(payloadDigest) }
      json.member("length") { $0.string("\(place.count)") }
      json.member("offset") { $0.string("\(place.lowerBound)") }
      json.member("filename") { $0.string(WACZ.warcName) }
    }
    return SURT.make(of: uri) + [0x20] + date.warcDigits + [0x20] + json.bytes
  }

  /// Whether a reader may want to begin with it.
  var isPage: Bool {
    let types: [ByteString] = ["text/html", "application/xhtml+xml"]
    return status == 200 && mimeType.map { types.contains($0.asciiLowercased) } ?? false
  }

  /// The line of a list of pages.
  var pageLine: [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.member("id") { $0.string(NameUUID.make(of: uri + date.warcDate)) }
      json.member("url") { $0.string(uri) }
      json.member("ts") { $0.string(date.warcDate) }
      json.member("title") { $0.string(uri) }
    }
    return json.bytes + [0x0A]
  }
}
