import Bytes

/// The head of a response as it is sent: the status and the header section (RFC 9112 §2.1).
public struct ResponseHead: Hashable, Sendable {
  /// The status code.
  public let status: Int64

  /// The header section.
  public let fields: FieldSection

  /// Parses a head as `curl -I` and `curl -D` write it: a status line of any version and field lines, up to an empty
  /// line or the end.
  ///
  /// Redirects and interim responses produce several heads in a row; the last final one is used. A line that begins
  /// with white space continues the line before it (RFC 9112 §5.2).
  ///
  /// - Returns: `nil` if there is no status line, or a line without a colon.
  public init?(_ text: [UInt8]) {
    var found: ResponseHead?
    var status: Int64?
    var lines: [FieldLine] = []
    for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      if line.isEmpty {
        if let status { found = ResponseHead(status, lines, after: found) }
        (status, lines) = (nil, [])
      } else if status == nil {
        guard let code = Self.status(line) else {
          // The text after a head is the body.
          // `curl -i` writes the body after the head, and a user may paste both.
          if found != nil { break }
          return nil
        }
        status = code
      } else if line.first?.isBlank == true, !lines.isEmpty {
        // A space replaces obsolete line folding (RFC 9112 §5.2).
        lines[lines.count - 1].value += [UInt8(ascii: " ")] + Array(line.trimmingBlanks)
      } else {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), line[..<colon].isToken else {
          return nil
        }
        lines.append(
          FieldLine(name: Array(line[..<colon]), value: Array(line[(colon + 1)...].trimmingBlanks)))
      }
    }
    if let status { found = ResponseHead(status, lines, after: found) }
    guard let found else { return nil }
    self = found
  }

  private init(_ status: Int64, _ lines: [FieldLine], after previous: ResponseHead?) {
    // A 103 has fields of its own, such as `Link`, which are not those of the response.
    if let previous, !StatusCode.isFinal(status) {
      self = previous
    } else {
      self.status = status
      fields = FieldSection(lines)
    }
  }

  /// The status code of a line such as `HTTP/1.1 200 OK` or `HTTP/2 200`.
  private static func status(_ line: ArraySlice<UInt8>) -> Int64? {
    let words = line.split(separator: UInt8(ascii: " "))
    guard words.count >= 2, words[0].starts(with: "HTTP/".utf8), words[1].count == 3,
      words[1].allSatisfy(\.isASCIIDigit)
    else { return nil }
    return Int64(String(decoding: words[1], as: UTF8.self))
  }
}
