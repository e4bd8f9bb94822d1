import Bytes

/// A piece of HTML, in which only markup that was written in the source is markup.
///
/// What a literal says is taken as it is, and can only be a `StaticString`; whatever is interpolated is
/// text, and escaped, unless it is HTML itself. So text from a cache cannot get out of its place as long
/// as that is an element or an attribute in double quotes. It is shown as ``HostileText`` shows it.
///
/// ```swift
/// let row: HTML = "<td title=\"\(url)\">\(size)</td>"
/// ```
struct HTML: Hashable, Sendable {
  /// The bytes, which are UTF-8.
  private(set) var bytes: [UInt8] = []

  /// Creates a piece of nothing.
  init() {}

  /// Appends another piece.
  static func += (html: inout HTML, other: HTML) {
    html.bytes += other.bytes
  }
}

extension HTML: ExpressibleByStringInterpolation {
  init(stringLiteral value: StaticString) {
    bytes = Array(value.description.utf8)
  }

  init(stringInterpolation: Interpolation) {
    bytes = stringInterpolation.html.bytes
  }

  /// Collects the parts of a literal.
  struct Interpolation: StringInterpolationProtocol {
    fileprivate var html = HTML()

    init(literalCapacity: Int, interpolationCount: Int) {
      html.bytes.reserveCapacity(literalCapacity + 16 * interpolationCount)
    }

    mutating func appendLiteral(_ literal: StaticString) {
      html.bytes += literal.description.utf8
    }

    mutating func appendInterpolation(_ html: HTML) {
      self.html += html
    }

    mutating func appendInterpolation(_ text: ByteString) {
      html.append(text)
    }

    mutating func appendInterpolation(_ text: String) {
      html.append(ByteString(text))
    }

    mutating func appendInterpolation(_ number: Int64) {
      var text = TextBuffer()
      text.append(integer: number)
      html.bytes += text.bytes
    }

    /// Appends a number to one place after the point, as coordinates need it.
    mutating func appendInterpolation(_ number: Double) {
      var text = TextBuffer()
      text.append(tenthsOf: number)
      html.bytes += text.bytes
    }
  }
}

extension HTML {
  /// Creates a text.
  init(text: ByteString) {
    append(text)
  }

  /// Appends text, with what has a meaning in HTML escaped, byte by byte: a mark that combines with a
  /// quote does not hide it.
  private mutating func append(_ text: ByteString) {
    for byte in HostileText.shown(text).bytes {
      switch byte {
      case UInt8(ascii: "&"): bytes += "&amp;".utf8
      case UInt8(ascii: "<"): bytes += "&lt;".utf8
      case UInt8(ascii: ">"): bytes += "&gt;".utf8
      case UInt8(ascii: "\""): bytes += "&quot;".utf8
      case UInt8(ascii: "'"): bytes += "&#39;".utf8
      default: bytes.append(byte)
      }
    }
  }

  /// Creates JSON for an element that holds data and no markup.
  ///
  /// - Parameter json: Whole JSON, which has `<`, `>` and `&` in strings only.
  init(json: TextBuffer) {
    for byte in json.bytes {
      switch byte {
      case UInt8(ascii: "&"): bytes += "\\u0026".utf8
      case UInt8(ascii: "<"): bytes += "\\u003c".utf8
      case UInt8(ascii: ">"): bytes += "\\u003e".utf8
      default: bytes.append(byte)
      }
    }
  }
}

extension TextBuffer {
  /// Appends a number to one place after the point, without one that is 0; 0 for what is no number.
  mutating func append(tenthsOf number: Double) {
    let tenths = (number * 10).rounded()
    guard tenths.magnitude < 1e15 else { return append(UInt8(ascii: "0")) }
    let (whole, rest) = Int64(tenths).magnitude.quotientAndRemainder(dividingBy: 10)
    if tenths < 0 { append(UInt8(ascii: "-")) }
    append(integer: Int64(whole))
    guard rest > 0 else { return }
    append(UInt8(ascii: "."))
    append(integer: Int64(rest))
  }
}
