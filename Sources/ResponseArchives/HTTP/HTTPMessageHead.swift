import Bytes
import ResponseStorage

/// What a message of HTTP/1.1 has before its body (RFC 9112 §2).
struct HTTPMessageHead {
  /// The first line, without its end.
  var startLine: [UInt8]

  /// The header fields that can be told; a line that is none is left out.
  var headers = HeaderFields()

  /// The most bytes of all lines.
  static let largest = 1 << 20

  /// Reads the lines of a message, up to the empty one.
  ///
  /// - Parameter line: Reads a line of at most so many bytes, with its end.
  /// - Returns: The head; `nil` if its lines are too long.
  static func read(_ line: (Int) throws -> [UInt8]) rethrows -> HTTPMessageHead? {
    var room = largest
    var lines: [[UInt8]] = []
    while case let bytes = try line(room), !bytes.isEmpty {
      room -= bytes.count
      guard room > 0 else { return nil }
      let text = Array(bytes.dropLast(bytes.suffix(2).filter { $0 == 0x0A || $0 == 0x0D }.count))
      if text.isEmpty { break }
      lines.append(text)
    }
    return HTTPMessageHead(lines: lines)
  }

  /// Creates a head from its lines, without their ends.
  init(lines: [[UInt8]]) {
    startLine = lines.first ?? []
    for line in lines.dropFirst() {
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

  /// The value of a field as text: bytes that are not UTF-8 are ISO 8859-1 (RFC 9110 §5.5).
  private static func text(_ bytes: [UInt8]) -> ByteString {
    let bytes = bytes.map { $0 == 0 || $0 == 0x0D || $0 == 0x0A ? 0x20 : $0 }
    guard String(validating: bytes, as: UTF8.self) == nil else { return ByteString(bytes) }
    return ByteString(bytes.flatMap { $0 < 0x80 ? [$0] : [0xC0 | $0 >> 6, 0x80 | $0 & 0x3F] })
  }

  /// The status code of a response: `HTTP/1.1 200 OK`; `nil` if it is none.
  var status: Int64? {
    let words = startLine.split(separator: 0x20)
    guard words.count >= 2, words[0].starts(with: Array("HTTP/".utf8)), words[1].count == 3 else {
      return nil
    }
    return Int64(digits: words[1])
  }

  /// The method of a request: `GET / HTTP/1.1`; `nil` if it is none.
  var method: ByteString? {
    let words = startLine.split(separator: 0x20)
    guard words.count >= 2, words[0].allSatisfy(\.isTokenCharacter) else { return nil }
    return ByteString(Array(words[0]))
  }
}
