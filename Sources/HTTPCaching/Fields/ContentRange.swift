import Bytes

/// The range of a representation in a message: `Content-Range: bytes 0-499/1234` (RFC 9110 §14.4).
public struct ContentRange: Hashable, Sendable {
  /// The position of the first byte, from 0.
  public let first: Int64

  /// The position of the last byte.
  public let last: Int64

  /// The size of the whole representation in bytes; `nil` if the sender does not know it and writes `*`.
  public let completeLength: Int64?

  /// Parses the value of a field; `nil` if it is not a valid range of bytes.
  ///
  /// A range that ends before it begins, or beyond the complete length, is invalid. Bodies must not be combined by it
  /// (RFC 9110 §14.4).
  public init?(_ value: [UInt8]) {
    guard value.prefix(5).equalsIgnoringCase("bytes"), value.dropFirst(5).first == Self.space else {
      return nil
    }
    let parts = value.dropFirst(6).split(separator: Self.slash, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let ends = parts[0].split(separator: Self.dash, omittingEmptySubsequences: false)
    // Only digits count. `Int64` itself would also parse a sign.
    guard ends.count == 2, let first = StoredBody.number(ends[0]),
      let last = StoredBody.number(ends[1]), first <= last
    else { return nil }
    (self.first, self.last) = (first, last)
    if parts[1].elementsEqual([Self.asterisk]) {
      completeLength = nil
    } else {
      guard let length = StoredBody.number(parts[1]), last < length else { return nil }
      completeLength = length
    }
  }

  /// Reads the field of a header section; `nil` unless it occurs exactly once and is valid.
  public init?(_ fields: FieldSection) {
    let values = fields.values(of: .contentRange)
    // With two ranges it is not known to which one the bytes belong, and a wrong choice would join
    // bodies in the wrong place.
    guard values.count == 1 else { return nil }
    self.init(values[0])
  }

  /// The number of bytes in the part.
  public var length: Int64 { (last - first).saturatingAdding(1) }

  private static let space = UInt8(ascii: " ")
  private static let slash = UInt8(ascii: "/")
  private static let dash = UInt8(ascii: "-")
  private static let asterisk = UInt8(ascii: "*")
}

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
