public import Bytes

/// Makes text from a cache safe to show on a terminal.
///
/// Characters that move the cursor, change the direction of text or are invisible are shown as `‹U+202E›`, and bytes
/// that are not UTF-8 as `‹0xFF›`.
public enum HostileText {
  /// Returns the safe form of `text`.
  public static func shown(_ text: ByteString) -> ByteString {
    var buffer = TextBuffer()
    buffer.append(shown: text.bytes)
    return ByteString(buffer.bytes)
  }

  /// Returns the safe form of `text`.
  public static func shown(_ text: String) -> String {
    shown(ByteString(text)).string ?? ""
  }

  /// Whether a scalar is invisible, or changes how the text around it is displayed.
  static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    // Nearly all text, without a lookup of properties. U+00AD, the soft hyphen, is invisible.
    case 0x20..<0x7F, 0xA1..<0xAD, 0xAE..<0x300: return false
    // Some of these are not format characters in Unicode, but look empty: Hangul fillers and the blank Braille pattern.
    case 0..<0xA0, 0x061C, 0x115F, 0x1160, 0x2028...0x202E, 0x2060...0x206F, 0x2800, 0x3164,
      0xFFF9...0xFFFC, 0xE0000...0xE0FFF:
      return true
    default:
      // By property and not by a list, so that characters of later versions of Unicode are covered
      // by a newer standard library.
      let properties = scalar.properties
      if properties.isDefaultIgnorableCodePoint { return true }
      return switch properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
      default: false
      }
    }
  }
}

extension TextBuffer {
  /// Appends text from a cache in the safe form of ``HostileText``.
  public mutating func append(shown bytes: [UInt8]) {
    append(shown: bytes, alsoEscaping: nil)
  }

  /// Appends text from a cache in the safe form of ``HostileText``.
  public mutating func append(shown text: ByteString) {
    append(shown: text.bytes, alsoEscaping: nil)
  }

  /// Appends text from a cache in the safe form of ``HostileText``, with one more byte treated as hidden.
  mutating func append(shown text: [UInt8], alsoEscaping extra: UInt8?) {
    // Nearly all text is plain, and is copied at once.
    if PrintableASCII.isAll(of: text.span, but: extra ?? 0) {
      bytes.append(contentsOf: text)
      return
    }
    var index = 0
    while index < text.count {
      let (scalar, length) = text.scalar(at: index)
      if let scalar {
        if HostileText.isHidden(scalar) || text[index] == extra {
          // In plain ASCII, `\u202E` could just as well have been in the text, so the reader could
          // not tell.
          append("‹U+")
          append(hexadecimal: scalar.value, width: 4)
          append("›")
        } else {
          bytes.append(contentsOf: text[index..<(index + length)])
        }
      } else {
        append("‹0x")
        append(hexadecimal: UInt32(text[index]), width: 2)
        append("›")
      }
      index += length
    }
  }

  /// Appends a number in uppercase hexadecimal, with at least `width` digits.
  mutating func append(hexadecimal value: UInt32, width: Int) {
    var digits = 8
    while digits > width, value >> UInt32(4 * (digits - 1)) == 0 { digits -= 1 }
    while digits > 0 {
      digits -= 1
      bytes.append(Base16.digit(UInt8(truncatingIfNeeded: value >> UInt32(4 * digits)), .capital))
    }
  }
}

/// Shortens text in the middle.
enum Excerpt {
  /// Returns the beginning and the end of UTF-8 text that ``HostileText`` has made safe, or the whole text.
  ///
  /// - Parameter characters: The maximum number of Unicode scalars. A number of columns would not bound the size,
  ///   because combining marks have no width.
  static func of(_ text: [UInt8], characters: Int) -> [UInt8] {
    // A text never has more scalars than bytes.
    guard text.count > characters else { return text }
    // Cut between scalar values, since half of one would be shown as a broken byte.
    let starts = text.indices.filter { text[$0] & 0xC0 != 0x80 }
    guard starts.count > characters else { return text }
    let head = text[..<starts[characters / 2]]
    let tail = text[starts[starts.count - (characters - characters / 2 - 1)]...]
    return head + Array("…".utf8) + tail
  }
}

/// The part of a URL after its authority.
enum URLTail {
  /// Returns the path, the query and the fragment; the whole text if there is no authority.
  static func of(_ url: ByteString) -> ByteString {
    // The text may be the safe form of a URL, in which parts of the scheme are escaped or left out.
    let parts = URLParts(url.bytes, allowsAnyScheme: true)
    guard parts.scheme != nil, parts.authority != nil else { return url }
    return ByteString(Array(parts.afterAuthority))
  }
}

/// Renders a line that a user wrote, with an error marked on the line below.
public enum MarkedText {
  /// The maximum number of bytes shown before the mark, and from its beginning on.
  private static let mostBytes = 72

  /// Returns the two lines, safe to show on a terminal. Of a long line, only the part around the mark is shown.
  ///
  /// - Parameters:
  ///   - line: The line, without its line end.
  ///   - range: The range of the error, in bytes of UTF-8. For an empty range, one column is marked.
  public static func text(_ line: String, marking range: Range<Int>) -> String {
    let bytes = Array(line.utf8)
    // An error at the end of a line lies behind its last byte.
    let mark = range.clamped(to: 0..<bytes.count)
    let first = scalarStart(at: mark.lowerBound - mostBytes, in: bytes)
    // A line of a configuration may be a megabyte long.
    let end = scalarStart(at: mark.lowerBound + mostBytes, in: bytes)
    let before = (first > 0 ? "…" : "") + shown(bytes[first..<mark.lowerBound])
    let marked = shown(bytes[mark.lowerBound..<min(mark.upperBound, end)])
    let after =
      shown(bytes[min(mark.upperBound, end)..<end]) + (end < bytes.count ? "…" : "")
    // By columns and not by characters, or else the mark would be off after a wide one.
    let carets = String(repeating: "^", count: max(1, width(marked)))
    let indent = String(repeating: " ", count: width(before))
    return "  \(before)\(marked)\(after)\n  \(indent)\(carets)"
  }

  /// Returns the index at which the scalar with the byte at `index` begins.
  private static func scalarStart(at index: Int, in bytes: [UInt8]) -> Int {
    var index = min(max(0, index), bytes.count)
    while index > 0, index < bytes.count, bytes[index] & 0xC0 == 0x80 { index -= 1 }
    return index
  }

  private static func shown(_ bytes: ArraySlice<UInt8>) -> String {
    HostileText.shown(String(decoding: bytes, as: UTF8.self))
  }

  private static func width(_ text: String) -> Int { DisplayWidth.width(of: Array(text.utf8)[...]) }
}
