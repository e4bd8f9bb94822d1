import Bytes
import ResponseStorage

extension TextBuffer {
  /// Appends a JSON string, or nothing if the bytes are not UTF-8.
  ///
  /// What ``HostileText`` hides is escaped, so that the text is safe on a terminal and still reads
  /// back exactly.
  ///
  /// - Returns: Whether the bytes are UTF-8.
  @discardableResult
  mutating func append(json text: [UInt8]) -> Bool {
    if PrintableASCII.isAll(of: text.span, but: UInt8(ascii: "\""), UInt8(ascii: "\\")) {
      bytes.append(UInt8(ascii: "\""))
      bytes.append(contentsOf: text)
      bytes.append(UInt8(ascii: "\""))
      return true
    }
    let start = bytes.count
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
      guard let scalar else {
        bytes.removeSubrange(start...)
        return false
      }
      switch scalar {
      case "\"": append("\\\"")
      case "\\": append("\\\\")
      case "\n": append("\\n")
      case "\r": append("\\r")
      case "\t": append("\\t")
      case _ where HostileText.isHidden(scalar):
        for unit in scalar.utf16 {
          append("\\u")
          append(hexadecimal: UInt32(unit), width: 4)
        }
      default: bytes.append(contentsOf: text[index..<(index + length)])
      }
      index += length
    }
    bytes.append(UInt8(ascii: "\""))
    return true
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

  /// Appends a JSON string.
  mutating func append(json text: String) {
    append(json: Array(text.utf8))
  }

  /// Appends a JSON string, or `null`.
  mutating func append(json text: String?) {
    if let text { append(json: text) } else { append("null") }
  }

  /// Appends a JSON number, or `null`.
  mutating func append(json value: Int64?) {
    if let value { append(integer: value) } else { append("null") }
  }

  /// Appends a JSON number of bytes, or `null`.
  mutating func append(json count: ByteCount?) { append(json: count?.bytes) }

  /// Appends a JSON string of a moment, or `null`.
  mutating func append(json moment: Timestamp?) {
    guard let moment else { return append("null") }
    append(UInt8(ascii: "\""))
    append(time: moment)
    append(UInt8(ascii: "\""))
  }

  /// Appends a JSON number, or `null` if JSON has no such number.
  mutating func append(json value: Double?) {
    guard let value, value.isFinite else { return append("null") }
    append("\(value)")
  }

  /// Appends a JSON string of bytes in Base64.
  mutating func append(base64 data: [UInt8]) {
    append(UInt8(ascii: "\""))
    Base64.encode(data, into: &bytes)
    append(UInt8(ascii: "\""))
  }

  /// Appends what follows a name and a colon in a JSON object: a string, `null`, or for text that
  /// is not UTF-8 `null` and a second member, `NAME_base64`.
  mutating func append(json text: ByteString?, orBase64Named name: ByteString) {
    guard let text else { return append("null") }
    if !append(json: text.bytes) { append(base64: text, inPlaceOf: name) }
  }

  /// Appends `null` as the value of a member, and a member with a text that is not UTF-8 in Base64.
  mutating func append(base64 text: ByteString, inPlaceOf name: ByteString) {
    append("null,\"")
    append(name)
    append("_base64\":")
    append(base64: text.bytes)
  }

  /// Appends the description of a store as a JSON object.
  mutating func append(json store: StoreDescription) {
    append("{\"path\":")
    append(json: store.path)
    append(",\"format\":\"")
    append(store.format.rawValue)
    append("\",\"schema_version\":")
    append(json: store.schemaVersion)
    append("}")
  }
}
