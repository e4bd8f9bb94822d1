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
    /// The beginning and the end; of a URL, at least the host, if there is room for it.
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
    let origin = part == .start ? 0 : width(of: bytes[..<endOfHost(in: bytes)])
    let headLimit = part == .start ? room : max(room - room / 2, origin <= room ? origin : 0)
    let tailLimit = room - headLimit
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

  /// Returns the place after the host and port of a text that begins as a URL, with the slash after them; the beginning of
  /// any other text.
  private static func endOfHost(in bytes: ArraySlice<UInt8>) -> Int {
    let scheme = bytes.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "/") }
    let rest = bytes[scheme.endIndex...]
    guard !scheme.isEmpty, rest.starts(with: "://".utf8) else { return bytes.startIndex }
    let host = rest.dropFirst(3).prefix { byte in
      ![UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains(byte)
    }
    return min(host.endIndex + 1, bytes.endIndex)
  }
}

/// The characters that occupy two columns of a terminal.
enum WideCharacters {
  /// The ranges of characters with the East Asian Width W or F (Unicode 18), and of regional indicators, which terminals
  /// draw as wide; some include unassigned characters.
  private static let ranges: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x23F0...0x23F0,
    0x23F3...0x23F3, 0x25FD...0x25FE, 0x2614...0x2615, 0x2630...0x2637, 0x2648...0x2653,
    0x267F...0x267F, 0x268A...0x268F, 0x2693...0x2693, 0x26A1...0x26A1, 0x26AA...0x26AB,
    0x26BD...0x26BE, 0x26C4...0x26C5, 0x26CE...0x26CE, 0x26D4...0x26D4, 0x26EA...0x26EA,
    0x26F2...0x26F3, 0x26F5...0x26F5, 0x26FA...0x26FA, 0x26FD...0x26FD, 0x2705...0x2705,
    0x270A...0x270B, 0x2728...0x2728, 0x274C...0x274C, 0x274E...0x274E, 0x2753...0x2755,
    0x2757...0x2757, 0x2795...0x2797, 0x27B0...0x27B0, 0x27BF...0x27BF, 0x2B1B...0x2B1C,
    0x2B50...0x2B50, 0x2B55...0x2B55, 0x2E80...0x2EF3, 0x2F00...0x2FD5, 0x2FF0...0x3029,
    0x3030...0x303E, 0x3041...0x3096, 0x309B...0x30FF, 0x3105...0x31E5, 0x31EF...0x3247,
    0x3250...0xA48C, 0xA490...0xA4C6, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
    0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x16FE3,
    0x16FF2...0x16FF6, 0x17000...0x18CDA, 0x18CFF...0x18D20, 0x18D80...0x18DF2, 0x18E00...0x19191,
    0x191A0...0x191D2, 0x1AFF0...0x1AFF3, 0x1AFF5...0x1AFFB, 0x1AFFD...0x1AFFE, 0x1B000...0x1B128,
    0x1B132...0x1B132, 0x1B150...0x1B152, 0x1B155...0x1B155, 0x1B164...0x1B168, 0x1B170...0x1B2FB,
    0x1D300...0x1D356, 0x1D360...0x1D376, 0x1F004...0x1F004, 0x1F0CF...0x1F0CF, 0x1F18E...0x1F18E,
    0x1F191...0x1F19A, 0x1F1AE...0x1F1AE, 0x1F1E6...0x1F202, 0x1F210...0x1F23B, 0x1F240...0x1F248,
    0x1F250...0x1F251, 0x1F260...0x1F265, 0x1F300...0x1F320, 0x1F32D...0x1F335, 0x1F337...0x1F37C,
    0x1F37E...0x1F393, 0x1F3A0...0x1F3CA, 0x1F3CF...0x1F3D3, 0x1F3E0...0x1F3F0, 0x1F3F4...0x1F3F4,
    0x1F3F8...0x1F43E, 0x1F440...0x1F440, 0x1F442...0x1F4FC, 0x1F4FF...0x1F53D, 0x1F54B...0x1F54E,
    0x1F550...0x1F567, 0x1F57A...0x1F57A, 0x1F595...0x1F596, 0x1F5A4...0x1F5A4, 0x1F5FB...0x1F64F,
    0x1F680...0x1F6C5, 0x1F6CC...0x1F6CC, 0x1F6D0...0x1F6D2, 0x1F6D5...0x1F6D9, 0x1F6DC...0x1F6DF,
    0x1F6EB...0x1F6EC, 0x1F6F4...0x1F6FC, 0x1F7DA...0x1F7DA, 0x1F7E0...0x1F7EB, 0x1F7F0...0x1F7F0,
    0x1F90C...0x1F93A, 0x1F93C...0x1F945, 0x1F947...0x1F9FF, 0x1FA70...0x1FA7C, 0x1FA80...0x1FAC6,
    0x1FAC8...0x1FAC8, 0x1FACC...0x1FADD, 0x1FADF...0x1FAEB, 0x1FAEF...0x1FAFA, 0x20000...0x2FFFD,
    0x30000...0x3FFFD,
  ]

  /// Whether a scalar is wide.
  static func contains(_ scalar: Unicode.Scalar) -> Bool {
    // The first range begins here, and nearly all text is below.
    guard scalar.value >= 0x1100 else { return false }
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < scalar.value { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].contains(scalar.value)
  }
}
