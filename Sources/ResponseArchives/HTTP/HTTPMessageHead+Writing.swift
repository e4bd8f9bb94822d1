import Bytes
import HTTPCaching
import ResponseStorage

extension HTTPMessageHead {
  /// Creates the head of a response for a WARC record, whose body has no codings.
  ///
  /// - Parameter bodySize: The size of the body, in bytes; `nil` if the body is missing.
  init(_ response: StoredResponse, bodySize: ByteCount?) {
    let status = response.status ?? 0
    // No store records the version of HTTP. WARC readers expect the form of HTTP/1.1, whatever was
    // used on the wire.
    startLine = Array("HTTP/1.1 \(status) \(StatusCode.phrase(of: status))".utf8)
    headers = WARCLabel.renamed(response.responseHeaders ?? HeaderFields(), bodySize: bodySize)
  }

  /// Creates the head of a request; `nil` if its method is missing or unusual.
  init?(_ request: StoredResponse.Request, of uri: EscapedURI) {
    guard let method = request.method, !method.bytes.isEmpty,
      method.bytes.allSatisfy({ 0x41...0x5A ~= $0 })
    else { return nil }
    let parts = URLParts(uri.bytes)
    let target = parts.withoutFragment[parts.pathStart...]
    // A request target starts with `/` even if the path is empty (RFC 9112 §3.2.1).
    let separator = target.first == UInt8(ascii: "/") ? " " : " /"
    startLine = method.bytes + separator.utf8 + target + " HTTP/1.1".utf8
    headers = WARCLabel.renamed(
      request.headers ?? HeaderFields(), bodySize: request.body.map { ByteCount($0.count) })
    // CFNetwork adds `Host` only while it sends a request, so a stored field is the exception, and
    // may name another host than the URL. Readers expect that of the URL.
    for index in headers.fields.indices
    where headers.fields[index].name.equalsIgnoringASCIICase("host") {
      headers.fields[index].name.bytes.insert(contentsOf: WARCLabel.originalPrefix.utf8, at: 0)
    }
    let host = ByteString(Array(parts.authority?.hostAndPort ?? []))
    headers.fields.insert(.init(name: "Host", value: host), at: 0)
  }

  /// The head as sent, with the empty line; fields with invalid names are left out.
  var bytes: [UInt8] {
    var bytes = startLine + [0x0D, 0x0A]
    for field in headers.fields
    // A name with a space or a colon, which a hostile cache can contain, would be read as another
    // field, or as the start of the body.
    where field.name.bytes.isToken {
      bytes += field.line
    }
    return bytes + [0x0D, 0x0A]
  }
}
