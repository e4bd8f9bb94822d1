import Bytes
import HTTPCaching
import ResponseStorage

/// The start line and header fields of an HTTP/1.1 message (RFC 9112 §2).
struct HTTPMessageHead {
  /// The first line, without its line ending.
  var startLine: [UInt8]

  /// The header fields; lines that are not valid fields are left out.
  var headers = HeaderFields()

  // Without a limit, a hostile record without an empty line would be read into memory as one head.
  /// The maximum total length of all lines, in bytes.
  static let largest = 1 << 20

  /// Reads the lines of a message, up to and including the empty line.
  ///
  /// - Parameter line: Reads a line, with its ending, of at most the given length in bytes.
  /// - Returns: The head; `nil` if its lines are too long.
  static func read(_ line: (Int) throws -> [UInt8]) rethrows -> HTTPMessageHead? {
    var room = largest
    var lines: [[UInt8]] = []
    while case var text = try line(room), !text.isEmpty {
      room -= text.count
      guard room > 0 else { return nil }
      // A block can end without a line ending, or in the middle of one.
      if text.last == 0x0A { text.removeLast() }
      if text.last == 0x0D { text.removeLast() }
      if text.isEmpty { break }
      lines.append(text)
    }
    return HTTPMessageHead(lines: lines)
  }

  /// Creates a head from its lines, without their endings.
  init(lines: [[UInt8]]) {
    startLine = lines.first ?? []
    for line in lines.dropFirst() {
      // Obsolete line folding (RFC 9112 §5.2).
      if line.first == 0x20 || line.first == 0x09 {
        guard let last = headers.fields.indices.last else { continue }
        headers.fields[last].value.bytes += [0x20] + line.trimmingBlanks
      } else if let field = HeaderFields.Field(line: line[...]) {
        headers.fields.append(field)
      }
    }
    for index in headers.fields.indices {
      headers.fields[index].value = Self.text(headers.fields[index].value.bytes)
    }
  }

  /// Returns a field value as UTF-8. Bytes that are not UTF-8 are read as ISO 8859-1 (RFC 9110 §5.5).
  private static func text(_ bytes: [UInt8]) -> ByteString {
    if PrintableASCII.isAll(of: bytes.span) { return ByteString(bytes) }
    let bytes = bytes.map { $0 == 0 || $0 == 0x0D || $0 == 0x0A ? 0x20 : $0 }
    guard String(validating: bytes, as: UTF8.self) == nil else { return ByteString(bytes) }
    return ByteString(bytes.flatMap { $0 < 0x80 ? [$0] : [0xC0 | $0 >> 6, 0x80 | $0 & 0x3F] })
  }

  /// The status code of a response such as `HTTP/1.1 200 OK`; `nil` if the first line has none.
  var status: Int64? {
    let words = startLine.split(separator: 0x20)
    // The reason phrase may be missing, which real archives show (RFC 9112 §4).
    guard words.count >= 2, words[0].starts(with: Array("HTTP/".utf8)), words[1].count == 3 else {
      return nil
    }
    return Int64(digits: words[1])
  }

  /// The method of a request such as `GET / HTTP/1.1`; `nil` if the first line has none.
  var method: ByteString? {
    let words = startLine.split(separator: 0x20)
    guard words.count >= 2, words[0].allSatisfy(\.isTokenCharacter) else { return nil }
    return ByteString(Array(words[0]))
  }
}

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
