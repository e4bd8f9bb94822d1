import Bytes
import ResponseStorage

extension StoredResponse.PropertyValue {
  /// The value for a cell: text and times as they are, all else as JSON.
  var text: [UInt8] {
    if case .text(let text) = self { return text.bytes }
    var buffer = TextBuffer()
    if case .date(let moment) = self {
      buffer.append(time: moment)
    } else {
      buffer.append(json: self)
    }
    return buffer.bytes
  }
}

extension [StoredResponse.Property] {
  /// The properties for a cell, as JSON; nothing if there are none.
  var text: [UInt8] {
    var buffer = TextBuffer()
    if !isEmpty { buffer.append(json: self) }
    return buffer.bytes
  }
}

extension TextBuffer {
  /// Appends properties as a JSON object; a key that is not UTF-8 is `base64:` and its Base64.
  mutating func append(json properties: [StoredResponse.Property]) {
    append(UInt8(ascii: "{"))
    for (index, property) in properties.enumerated() {
      if index > 0 { append(UInt8(ascii: ",")) }
      append(jsonKey: property.key)
      append(UInt8(ascii: ":"))
      append(json: property.value)
    }
    append(UInt8(ascii: "}"))
  }

  /// Appends the key of a member of an object; one that is not UTF-8 is `base64:` and its Base64.
  mutating func append(jsonKey key: ByteString) {
    if append(json: key.bytes) { return }
    append("\"base64:")
    var encoded = TextBuffer()
    encoded.append(base64: key.bytes)
    append(contentsOf: encoded.bytes.dropFirst())
  }

  /// Appends a property's value; what JSON has no form for is an object with one member.
  mutating func append(json value: StoredResponse.PropertyValue) {
    switch value {
    case .null: append("null")
    case .boolean(let flag): append(flag ? "true" : "false")
    case .integer(let number): append(integer: number)
    case .real(let number): append(json: number)
    case .date(let moment): append(json: moment)
    case .text(let text):
      if !append(json: text.bytes) { append(object: "base64", text.bytes) }
    case .data(let data): append(object: "base64", data)
    case .array(let values):
      append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { append(UInt8(ascii: ",")) }
        append(json: value)
      }
      append(UInt8(ascii: "]"))
    case .dictionary(let members): append(json: members)
    case .opaque(let name):
      append("{\"class\":")
      append(json: name)
      append(UInt8(ascii: "}"))
    }
  }

  private mutating func append(object key: String, _ data: [UInt8]) {
    append("{\"\(key)\":")
    append(base64: data)
    append(UInt8(ascii: "}"))
  }
}
