import Bytes
public import ResponseStorage
public import JSON

extension StoredResponse.PropertyValue {
  /// The value for a cell: text and times directly, everything else as JSON.
  var text: [UInt8] {
    if case .text(let text) = self { return text.bytes }
    var buffer = TextBuffer()
    if case .date(let moment) = self {
      buffer.append(time: moment)
    } else {
      buffer.writeJSON { $0.value(self) }
    }
    return buffer.bytes
  }
}

extension [StoredResponse.Property] {
  /// The properties for a cell, as JSON; empty if there are none.
  var text: [UInt8] {
    var buffer = TextBuffer()
    if !isEmpty { buffer.writeJSON { $0.properties(self) } }
    return buffer.bytes
  }
}

extension JSONWriter {
  /// Writes properties as an object.
  mutating func properties(_ properties: [StoredResponse.Property]) {
    object {
      for property in properties {
        $0.key(utf8OrBase64: property.key)
        $0.value(property.value)
      }
    }
  }

  /// Writes the name of a member. A name that is not UTF-8 becomes `base64:` and its Base64.
  mutating func key(utf8OrBase64 name: ByteString) {
    if key(utf8: name.bytes) { return }
    // Two different keys must stay different members, which replacement characters would not
    // ensure.
    key(repairing: Base64.encode(name.bytes, after: Array("base64:".utf8)))
  }

  /// Writes a string, or an object with one member for bytes that are not UTF-8.
  mutating func utf8OrBase64(_ text: [UInt8]) {
    if !string(utf8: text) { object { $0.base64Member(text) } }
  }

  /// Writes the only member of an object for bytes.
  mutating func base64Member(_ data: [UInt8]) {
    key("base64")
    base64(data)
  }
}

/// Values without a JSON form become an object with one member.
extension StoredResponse.PropertyValue: JSONValue {
  public func write(to json: inout JSONWriter) {
    switch self {
    case .null: json.null()
    case .boolean(let flag): json.value(flag)
    case .integer(let number): json.value(number)
    case .real(let number): json.value(number)
    case .date(let moment): json.value(moment)
    case .text(let text): json.utf8OrBase64(text.bytes)
    // As an object, so that it cannot be confused with text that happens to be Base64.
    case .data(let data): json.object { $0.base64Member(data) }
    case .array(let values): json.value(values)
    case .dictionary(let members): json.properties(members)
    case .opaque(let name): json.object { $0.member("class", name) }
    }
  }
}
