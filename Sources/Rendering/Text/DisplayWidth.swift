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

  /// Returns the width of a scalar: 0 for a combining mark, 2 for a wide character, otherwise 1.
  static func width(of scalar: Unicode.Scalar) -> Int {
    // No scalar below the combining marks, which begin at U+0300, needs a property lookup.
    if scalar.value < 0x300 { return 1 }
    if WideCharacters.contains(scalar) { return 2 }
    switch scalar.value {
    // Vowels and final consonants of Hangul are drawn into the syllable that a wide consonant begins.
    case 0x1160...0x11FF, 0xD7B0...0xD7FB: return 0
    default:
      return switch scalar.properties.generalCategory {
      case .nonspacingMark, .enclosingMark: 0
      default: 1
      }
    }
  }

  /// The part of a text that is left when it is shortened.
  enum Part: Hashable {
    /// The beginning.
    case start
    /// The beginning and the end.
    case startAndEnd
  }

  /// Returns the text with a part replaced by an ellipsis, so that it is at most `limit` columns wide.
  static func shortened(
    _ bytes: ArraySlice<UInt8>, to limit: Int, keeping part: Part = .startAndEnd,
    style: TextStyle = TextStyle()
  ) -> ArraySlice<UInt8> {
    guard width(of: bytes) > limit else { return bytes }
    let ellipsis = style.ellipsis(atMost: limit)
    let room = max(0, limit - width(of: ellipsis[...]))
    let tailLimit = part == .start ? 0 : room / 2
    let headLimit = room - tailLimit
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
    // A combining mark without its letter would be drawn onto the ellipsis.
    while tail < bytes.endIndex {
      let (scalar, length) = bytes.scalar(at: tail)
      guard let scalar, width(of: scalar) == 0 else { break }
      tail += length
    }
    return bytes[..<head] + ellipsis + bytes[tail...]
  }
}
