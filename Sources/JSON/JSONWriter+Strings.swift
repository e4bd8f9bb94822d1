import Bytes

extension JSONWriter {
  /// Writes a string.
  public mutating func string(_ text: String) {
    separate()
    let start = bytes.count
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: text.utf8)
    // Nearly all are plain, so that it is cheaper to look at what was written.
    if !Self.isPlain(bytes.span.extracting((start + 1)...)) {
      bytes.removeSubrange(start...)
      _ = escapedString(Array(text.utf8))
    } else {
      bytes.append(UInt8(ascii: "\""))
    }
    place = .next
  }

  /// Writes a string of bytes that are UTF-8; nothing if they are not.
  ///
  /// - Returns: Whether they are UTF-8. If not, another value is to be written.
  public mutating func string(utf8 text: [UInt8]) -> Bool {
    let start = bytes.count
    separate()
    if Self.isPlain(text.span) {
      bytes.append(UInt8(ascii: "\""))
      bytes.append(contentsOf: text)
      bytes.append(UInt8(ascii: "\""))
    } else if !escapedString(text) {
      bytes.removeSubrange(start...)
      return false
    }
    place = .next
    return true
  }

  /// Writes a string of bytes in Base64.
  public mutating func base64(_ data: [UInt8]) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    Base64.encode(data, into: &bytes)
    bytes.append(UInt8(ascii: "\""))
    place = .next
  }

  /// Whether JSON has the bytes as they are.
  private static func isPlain(_ text: Span<UInt8>) -> Bool {
    PrintableASCII.isAll(of: text, but: UInt8(ascii: "\""), UInt8(ascii: "\\"))
  }

  /// Writes a string; its beginning, if it is not UTF-8.
  ///
  /// - Returns: Whether it is UTF-8.
  private mutating func escapedString(_ text: [UInt8]) -> Bool {
    bytes.append(UInt8(ascii: "\""))
    var index = 0
    while index < text.count {
      let plain = Self.plainLength(of: text, from: index)
      if plain > 0 {
        bytes.append(contentsOf: text[index..<(index + plain)])
        index += plain
        continue
      }
      let (scalar, length) = text.scalar(at: index)
      guard let scalar else { return false }
      switch scalar {
      case "\"": escape(UInt8(ascii: "\""))
      case "\\": escape(UInt8(ascii: "\\"))
      case "\n": escape(UInt8(ascii: "n"))
      case "\r": escape(UInt8(ascii: "r"))
      case "\t": escape(UInt8(ascii: "t"))
      case _ where scalar.value < 0x20 || escaping.isEscaped(scalar):
        for unit in scalar.utf16 { escape(unit) }
      default: bytes.append(contentsOf: text[index..<(index + length)])
      }
      index += length
    }
    bytes.append(UInt8(ascii: "\""))
    return true
  }

  private mutating func escape(_ byte: UInt8) {
    bytes.append(UInt8(ascii: "\\"))
    bytes.append(byte)
  }

  private mutating func escape(_ unit: UInt16) {
    escape(UInt8(ascii: "u"))
    for shift in [12, 8, 4, 0] as [UInt16] {
      let digit = UInt8(truncatingIfNeeded: unit >> shift) & 0xF
      bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : escaping.digitTen - 10 + digit)
    }
  }

  /// How many bytes from a place on are printable ASCII that JSON has as it is.
  private static func plainLength(of text: [UInt8], from start: Int) -> Int {
    let text = text.span
    var end = start
    while end < text.count, text[end] >= 0x20, text[end] < 0x7F, text[end] != UInt8(ascii: "\""),
      text[end] != UInt8(ascii: "\\")
    {
      end += 1
    }
    return end - start
  }
}
