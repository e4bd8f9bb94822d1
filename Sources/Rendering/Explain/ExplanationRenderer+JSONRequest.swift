import Administration
import Bytes
import HTTPCaching
import ResponseStorage

/// What explanations say of the next request.
extension ExplanationRenderer {
  func append(_ validators: Validators, into buffer: inout TextBuffer) {
    buffer.append(",\"validators\":[")
    if let tag = validators.entityTag {
      buffer.append("{\"type\":\"etag\",\"value\":")
      buffer.append(jsonOrBase64: tag.verbatim)
      buffer.append(tag.isStrong ? ",\"strong\":true" : ",\"strong\":false")
      buffer.append(",\"time\":null,\"weaknesses\":")
      buffer.append(weaknessesOf: .entityTag, in: validators.remarks)
      buffer.append(UInt8(ascii: "}"))
    }
    if let date = validators.lastModified {
      if validators.entityTag != nil { buffer.append(UInt8(ascii: ",")) }
      buffer.append("{\"type\":\"last-modified\",\"value\":")
      buffer.append(jsonOrBase64: date.verbatim)
      buffer.append(date.isStrong ? ",\"strong\":true,\"time\":" : ",\"strong\":false,\"time\":")
      buffer.append(json: Timestamp(secondsSince1970: Double(date.secondsSince1970)))
      buffer.append(",\"weaknesses\":")
      buffer.append(weaknessesOf: .lastModified, in: validators.remarks)
      buffer.append(UInt8(ascii: "}"))
    }
    buffer.append(UInt8(ascii: "]"))
  }

  func append(conditional details: Explanation.Details, into buffer: inout TextBuffer) {
    guard details.foundation == nil else { return buffer.append("null") }
    let request = details.conditional.unconditional
    buffer.append("{\"method\":")
    buffer.append(jsonOrBase64: request.method)
    buffer.append(",\"purpose\":\"")
    buffer.append(details.conditional.purpose.rawValue)
    buffer.append("\",\"headers\":{")
    let conditions = details.conditional.conditions
    let presented = request.fields.lines
    for (index, line) in presented.enumerated() {
      let name = FieldName(of: line)
      if presented[..<index].contains(where: { name.matches($0) }) { continue }
      if index > 0 { buffer.append(UInt8(ascii: ",")) }
      append(line.name, request.fields.shownValue(of: name, secrets) ?? [], into: &buffer)
    }
    for (index, line) in conditions.enumerated() {
      if index > 0 || !presented.isEmpty { buffer.append(UInt8(ascii: ",")) }
      append(line.name, line.value, into: &buffer)
    }
    buffer.append("}}")
  }

  /// Appends how much of the body is stored, and what a request for the rest of it has, whoever would send it.
  func append(received details: Explanation.Details, into buffer: inout TextBuffer) {
    if let body = details.received {
      buffer.append(",\"received\":{\"bytes\":")
      buffer.append(integer: body.bytes)
      buffer.append(",\"announced\":")
      buffer.append(integer: body.announced)
      buffer.append("}")
    } else {
      buffer.append(",\"received\":null")
    }
    guard details.conditional.purpose == .completion else {
      return buffer.append(",\"resume_headers\":null")
    }
    buffer.append(",\"resume_headers\":{")
    for (index, line) in details.conditional.conditions.enumerated() {
      if index > 0 { buffer.append(UInt8(ascii: ",")) }
      append(line.name, line.value, into: &buffer)
    }
    buffer.append("}")
  }

  private func append(_ name: [UInt8], _ value: [UInt8], into buffer: inout TextBuffer) {
    buffer.append(jsonKey: ByteString(name))
    buffer.append(UInt8(ascii: ":"))
    buffer.append(jsonOrBase64: value)
  }
}

extension TextBuffer {
  /// Appends the name of a section as a JSON string, or `null`.
  mutating func append(section: Section?) {
    guard let section else { return append("null") }
    switch section.rfc {
    case 9111: append("\"RFC 9111 §")
    case 9110: append("\"RFC 9110 §")
    default:
      append("\"RFC ")
      append(integer: Int64(section.rfc))
      append(" §")
    }
    append(section.number)
    append(UInt8(ascii: "\""))
  }

  /// Appends a JSON string, or for what is not UTF-8 an object with one member.
  mutating func append(jsonOrBase64 bytes: [UInt8]) {
    if !append(json: bytes) {
      append(json: StoredResponse.PropertyValue.text(ByteString(bytes)))
    }
  }

  /// Appends a JSON string, or for what is not UTF-8 an object with one member, or `null`.
  mutating func append(jsonOrBase64 bytes: [UInt8]?) {
    if let bytes { append(jsonOrBase64: bytes) } else { append("null") }
  }

  /// Appends what makes a validator weaker than it seems.
  fileprivate mutating func append(weaknessesOf field: FieldName, in remarks: [Remark]) {
    append(UInt8(ascii: "["))
    var isFirst = true
    for remark in remarks where remark.field == field {
      append(isFirst ? "\"" : ",\"")
      isFirst = false
      append(remark.kind.rawValue)
      append(UInt8(ascii: "\""))
    }
    append(UInt8(ascii: "]"))
  }
}
