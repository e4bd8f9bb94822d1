import Bytes
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
