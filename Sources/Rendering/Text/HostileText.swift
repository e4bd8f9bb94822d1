public import Bytes

/// Text from a cache, made safe to show on a terminal.
///
/// Characters that move the cursor, turn the direction of text around or cannot be seen are shown
/// as `‹U+202E›`, and bytes that are not UTF-8 as `‹0xFF›`.
public enum HostileText {
  /// The safe form of `text`.
  public static func shown(_ text: ByteString) -> ByteString {
    var buffer = TextBuffer()
    buffer.append(shown: text.bytes)
    return ByteString(buffer.bytes)
  }

  /// The safe form of `text`.
  public static func shown(_ text: String) -> String {
    shown(ByteString(text)).string ?? ""
  }

  /// Whether a scalar cannot be seen, or changes how the text around it is seen.
  static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x20..<0x7F, 0xA1..<0xAD, 0xAE..<0x300: return false
    case 0..<0xA0, 0x061C, 0x115F, 0x1160, 0x2028...0x202E, 0x2060...0x206F, 0x2800, 0x3164,
      0xFFF9...0xFFFC, 0xE0000...0xE0FFF:
      return true
    default:
      let properties = scalar.properties
      if properties.isDefaultIgnorableCodePoint { return true }
      return switch properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
      default: false
      }
    }
  }

  /// The scalar that begins at `index` and the number of its bytes; no scalar and 1 if the byte
  /// there begins none in UTF-8.
  static func scalar(
    in bytes: ArraySlice<UInt8>, at index: Int
  ) -> (scalar: Unicode.Scalar?, length: Int) {
    let first = bytes[index]
    let length: Int
    var value: UInt32
    switch first {
    case 0..<0x80: return (Unicode.Scalar(first), 1)
    case 0xC2...0xDF: (length, value) = (2, UInt32(first & 0x1F))
    case 0xE0...0xEF: (length, value) = (3, UInt32(first & 0x0F))
    case 0xF0...0xF4: (length, value) = (4, UInt32(first & 0x07))
    default: return (nil, 1)
    }
    guard length <= bytes.endIndex - index else { return (nil, 1) }
    for next in bytes[(index + 1)..<(index + length)] {
      guard next & 0xC0 == 0x80 else { return (nil, 1) }
      value = value << 6 | UInt32(next & 0x3F)
    }
    let smallest: UInt32 = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000
    guard value >= smallest, let scalar = Unicode.Scalar(value) else { return (nil, 1) }
    return (scalar, length)
  }
}

extension TextBuffer {
  /// Appends text from a cache as ``HostileText`` shows it.
  public mutating func append(shown bytes: [UInt8]) {
    append(shown: bytes, alsoEscaping: nil)
  }

  /// Appends text from a cache as ``HostileText`` shows it.
  public mutating func append(shown text: ByteString) {
    append(shown: text.bytes, alsoEscaping: nil)
  }

  /// Appends text from a cache as ``HostileText`` shows it, with one more byte taken for hidden.
  mutating func append(shown text: [UInt8], alsoEscaping extra: UInt8?) {
    if PrintableASCII.isAll(of: text.span, but: extra ?? 0) {
      bytes.append(contentsOf: text)
      return
    }
    var index = 0
    while index < text.count {
      let (scalar, length) = HostileText.scalar(in: text[...], at: index)
      if let scalar {
        if HostileText.isHidden(scalar) || text[index] == extra {
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

  /// Appends a number in capital hexadecimal digits, at least `width` of them.
  mutating func append(hexadecimal value: UInt32, width: Int) {
    var digits = 8
    while digits > width, value >> UInt32(4 * (digits - 1)) == 0 { digits -= 1 }
    while digits > 0 {
      digits -= 1
      let nibble = UInt8(truncatingIfNeeded: value >> UInt32(4 * digits)) & 0xF
      bytes.append(nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") - 10 + nibble)
    }
  }
}
