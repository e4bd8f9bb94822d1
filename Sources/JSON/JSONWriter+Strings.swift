public import Bytes
import Files

extension JSONWriter {
  /// Writes a string.
  public mutating func string(_ text: String) {
    openString()
    let start = bytes.count
    bytes.append(contentsOf: text.utf8)
    // Nearly all strings are plain, so copying first and checking the copy is cheaper.
    if !Self.isPlain(bytes.span.extracting(start...)) {
      bytes.removeSubrange(start...)
      _ = escaped(Array(text.utf8))
    }
    closeString()
  }

  /// Writes a string from bytes that are UTF-8. Writes nothing if they are not.
  ///
  /// - Returns: Whether the bytes are UTF-8. If not, the caller must write another value.
  public mutating func string(utf8 text: [UInt8]) -> Bool {
    let start = bytes.count
    openString()
    if Self.isPlain(text.span) {
      bytes.append(contentsOf: text)
    } else if !escaped(text) {
      // Removes the quote and the separator too, so that another value can take its place.
      bytes.removeSubrange(start...)
      return false
    }
    closeString()
    return true
  }

  /// Writes a string from bytes that should be UTF-8. Invalid UTF-8 becomes U+FFFD.
  public mutating func string(repairing text: [UInt8]) {
    if !string(utf8: text) { string(String(decoding: text, as: UTF8.self)) }
  }

  /// Writes a string in pieces; `pieces` writes each with ``characters(_:)``.
  @inlinable
  public mutating func string<Failure: Error>(
    pieces: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    openString()
    try pieces(&self)
    closeString()
  }

  /// Writes the next characters of a string from bytes that should be UTF-8. Invalid UTF-8 becomes U+FFFD.
  public mutating func characters(_ text: [UInt8]) {
    // A piece must not end within a character, as the two halves would become U+FFFD.
    if Self.isPlain(text.span) {
      bytes.append(contentsOf: text)
    } else if !escaped(text) {
      _ = escaped(Array(String(decoding: text, as: UTF8.self).utf8))
    }
  }

  /// Writes a string that needs no escaping, without checking it.
  public mutating func word(_ word: String) {
    openString()
    bytes.append(contentsOf: word.utf8)
    closeString()
  }

  /// Writes a string that needs no escaping, without checking it.
  public mutating func word(_ beginning: StaticString, _ rest: String = "") {
    openString()
    bytes.append(beginning)
    bytes.append(contentsOf: rest.utf8)
    closeString()
  }

  @usableFromInline
  mutating func openString() {
    separate()
    bytes.append(UInt8(ascii: "\""))
  }

  @usableFromInline
  mutating func closeString() {
    bytes.append(UInt8(ascii: "\""))
    place = .next
  }

  /// Writes a time in RFC 3339 format, in UTC, truncated to seconds.
  public mutating func time(_ moment: Timestamp) {
    openString()
    bytes.append(rfc3339: moment)
    closeString()
  }

  /// Writes bytes as a Base64 string.
  public mutating func base64(_ data: [UInt8]) {
    openString()
    Base64.encode(data, into: &bytes)
    closeString()
  }

  /// Whether the bytes need no escaping.
  private static func isPlain(_ text: Span<UInt8>) -> Bool {
    PrintableASCII.isAll(of: text, but: UInt8(ascii: "\""), UInt8(ascii: "\\"))
  }

  /// Writes characters with escapes. Writes nothing if they are not UTF-8.
  ///
  /// - Returns: Whether the bytes are UTF-8.
  private mutating func escaped(_ text: [UInt8]) -> Bool {
    let start = bytes.count
    var index = 0
    while index < text.count {
      let plain = Self.plainLength(of: text, from: index)
      if plain > 0 {
        bytes.append(contentsOf: text[index..<(index + plain)])
        index += plain
        continue
      }
      let (scalar, length) = text.scalar(at: index)
      guard let scalar else {
        bytes.removeSubrange(start...)
        return false
      }
      switch scalar {
      case "\"": escape(UInt8(ascii: "\""))
      case "\\": escape(UInt8(ascii: "\\"))
      case "\n": escape(UInt8(ascii: "n"))
      case "\r": escape(UInt8(ascii: "r"))
      case "\t": escape(UInt8(ascii: "t"))
      case _ where scalar.value < 0x20 || escaping.isEscaped(scalar):
        // A character beyond U+FFFF takes two escapes, of a surrogate pair (RFC 8259 §7).
        for unit in scalar.utf16 { escape(unit) }
      default: bytes.append(contentsOf: text[index..<(index + length)])
      }
      index += length
    }
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

  /// The number of bytes from an index on that are printable ASCII and need no escaping.
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
