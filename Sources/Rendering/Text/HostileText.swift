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
