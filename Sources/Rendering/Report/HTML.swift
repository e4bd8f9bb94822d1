import Bytes

/// A piece of HTML in which only string literals of the source are markup.
///
/// Literals are `StaticString` and are used unchanged. Everything interpolated is text and escaped, unless it is `HTML`
/// itself. So text from a cache cannot break out of an element or an attribute in double quotes. It is shown as
/// ``HostileText`` shows it.
///
/// ```swift
/// let row: HTML = "<td title=\"\(url)\">\(size)</td>"
/// ```
struct HTML: Hashable, Sendable {
  /// The bytes, which are UTF-8.
  private(set) var bytes: [UInt8] = []

  /// Creates an empty piece.
  init() {}

  /// Appends another piece.
  static func += (html: inout HTML, other: HTML) {
    html.bytes += other.bytes
  }
}

extension HTML: ExpressibleByStringInterpolation {
  // Without this restriction, one forgotten escape would let a cache put a script into a report.
  init(stringLiteral value: StaticString) {
    bytes = Array(value.description.utf8)
  }

  init(stringInterpolation: Interpolation) {
    bytes = stringInterpolation.html.bytes
  }

  /// Collects the segments of a literal.
  struct Interpolation: StringInterpolationProtocol {
    fileprivate var html = HTML()

    init(literalCapacity: Int, interpolationCount: Int) {
      html.bytes.reserveCapacity(literalCapacity + 16 * interpolationCount)
    }

    // `StaticString` rather than `String`: the compiler then refuses text that was put together at
    // run time.
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

    /// Appends a number with one decimal, as coordinates need it.
    mutating func appendInterpolation(_ number: Double) {
      var text = TextBuffer()
      text.append(tenthsOf: number)
      html.bytes += text.bytes
    }
  }
}

extension HTML {
  /// Creates a piece from text.
  init(text: ByteString) {
    append(text)
  }

  /// Appends text with special characters escaped. It works on bytes, so that a combining mark after a quote does not
  /// hide the quote.
  private mutating func append(_ text: ByteString) {
    for byte in HostileText.shown(text).bytes {
      switch byte {
      case UInt8(ascii: "&"): bytes += "&amp;".utf8
      case UInt8(ascii: "<"): bytes += "&lt;".utf8
      case UInt8(ascii: ">"): bytes += "&gt;".utf8
      case UInt8(ascii: "\""): bytes += "&quot;".utf8
      // As a number, because `&apos;` is not defined in HTML 4.
      case UInt8(ascii: "'"): bytes += "&#39;".utf8
      default: bytes.append(byte)
      }
    }
  }

  /// Creates JSON for an element that contains data and no markup.
  ///
  /// Escapes `<`, so that no string can end the element, and `>` and `&` as well.
  ///
  /// - Parameter json: Complete JSON, in which `<`, `>` and `&` only occur in strings.
  init(json: TextBuffer) {
    for byte in json.bytes {
      switch byte {
      case UInt8(ascii: "&"): bytes += "\\u0026".utf8
      // A script element ends at the first `</script`, even within a string of JSON, and `<!--`
      // changes how the rest is read.
      case UInt8(ascii: "<"): bytes += "\\u003c".utf8
      case UInt8(ascii: ">"): bytes += "\\u003e".utf8
      default: bytes.append(byte)
      }
    }
  }
}

extension TextBuffer {
  /// Appends a number with one decimal, which is omitted if it is 0; 0 for a number that is not finite or too large.
  mutating func append(tenthsOf number: Double) {
    let tenths = (number * 10).rounded()
    // Larger numbers would trap in the conversion, and NaN fails the comparison.
    // A hostile cache can claim any size, and a report must still be drawn.
    guard tenths.magnitude < 1e15 else { return append(UInt8(ascii: "0")) }
    let (whole, rest) = Int64(tenths).magnitude.quotientAndRemainder(dividingBy: 10)
    if tenths < 0 { append(UInt8(ascii: "-")) }
    append(integer: Int64(whole))
    guard rest > 0 else { return }
    append(UInt8(ascii: "."))
    append(integer: Int64(rest))
  }
}
