import Bytes
import JSON

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
