import Bytes

/// Measures how many columns of a terminal a text occupies.
enum DisplayWidth {
  /// Returns the width of UTF-8 text that ``HostileText`` has made safe.
  static func width(of bytes: ArraySlice<UInt8>) -> Int {
    if PrintableASCII.isAll(of: bytes.span) { return bytes.count }
    var width = 0
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let (scalar, length) = bytes.scalar(at: index)
      width += scalar.map(Self.width(of:)) ?? 1
      index += length
    }
    return width
  }

  /// Returns the width of a scalar: 0 for a combining mark, 2 for a wide East Asian character, otherwise 1.
  static func width(of scalar: Unicode.Scalar) -> Int {
    // No scalar below the combining marks, which begin at U+0300, needs a property lookup.
    if scalar.value < 0x300 { return 1 }
    switch scalar.value {
    // The blocks that Unicode's EastAsianWidth calls wide, in ranges that are broad enough for
    // alignment. The standard library has no such property.
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
      0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF,
      0x1F900...0x1F9FF, 0x20000...0x3FFFD:
      return 2
    default:
      return switch scalar.properties.generalCategory {
      case .nonspacingMark, .enclosingMark: 0
      default: 1
      }
    }
  }

  /// Returns the text with its middle replaced by `…`, so that it is at most `limit` columns wide.
  static func shortened(_ bytes: ArraySlice<UInt8>, to limit: Int) -> ArraySlice<UInt8> {
    guard limit > 1, width(of: bytes) > limit else { return bytes }
    // The middle goes: the beginning of a URL tells the host, and the end the file.
    let tailLimit = (limit - 1) / 2
    let headLimit = limit - 1 - tailLimit
    var head = bytes.startIndex
    var used = 0
    while head < bytes.endIndex {
      let (scalar, length) = bytes.scalar(at: head)
      used += scalar.map(Self.width(of:)) ?? 1
      if used > headLimit { break }
      head += length
    }
    var tail = bytes.endIndex
    used = 0
    while tail > head {
      var start = tail - 1
      // Step over continuation bytes, so that no character is cut.
      while start > head, bytes[start] & 0xC0 == 0x80 { start -= 1 }
      used += bytes.scalar(at: start).scalar.map(Self.width(of:)) ?? 1
      if used > tailLimit { break }
      tail = start
    }
    return bytes[..<head] + Array("…".utf8) + bytes[tail...]
  }
}
