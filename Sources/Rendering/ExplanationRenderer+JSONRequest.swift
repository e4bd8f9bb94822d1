import Administration
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
    buffer.append(",\"conditional_request\":")
    guard details.foundation == nil else { return buffer.append("null") }
    let request = details.conditional.request
    buffer.append("{\"method\":")
    buffer.append(jsonOrBase64: request.method)
    buffer.append(",\"purpose\":\"")
    buffer.append(details.conditional.purpose.rawValue)
    buffer.append("\",\"headers\":{")
    // What was added to the presented request comes last, and is not there twice.
    let conditions = details.conditional.conditions
    let presented = request.fields.lines.dropLast(conditions.count)
    for (index, line) in presented.enumerated() {
      let name = FieldName(line.name)
      if presented[..<index].contains(where: { name.matches($0.name) }) { continue }
      if index > 0 { buffer.append(UInt8(ascii: ",")) }
      append(line.name, request.fields.shownValue(of: name, secrets) ?? [], into: &buffer)
    }
    for (index, line) in conditions.enumerated() {
      if index > 0 || !presented.isEmpty { buffer.append(UInt8(ascii: ",")) }
      append(line.name, line.value, into: &buffer)
    }
    buffer.append("}}")
  }

  private func append(_ name: [UInt8], _ value: [UInt8], into buffer: inout TextBuffer) {
    buffer.append(jsonKey: ByteString(name))
    buffer.append(UInt8(ascii: ":"))
    buffer.append(jsonOrBase64: value)
  }

  func append(policiesOf explanation: Explanation, into buffer: inout TextBuffer) {
    buffer.append(",\"policies\":[")
    for (index, member) in Self.policyMembers.enumerated() {
      if index > 0 { buffer.append(UInt8(ascii: ",")) }
      buffer.append(contentsOf: member)
      buffer.append(explanation.outcome(of: RequestCachePolicy.names[index].policy).rawValue)
      buffer.append("\"}")
    }
    buffer.append(UInt8(ascii: "]"))
  }

  /// The objects of the policies up to their outcomes.
  private static let policyMembers: [[UInt8]] = RequestCachePolicy.names.map { name, policy in
    Array("{\"name\":\"\(name)\",\"number\":\(policy.rawValue),\"outcome\":\"".utf8)
  }
}

extension TextBuffer {
  /// Appends the name of a section as a JSON string, or `null`.
  mutating func append(section: Section?) {
    guard let section else { return append("null") }
    append("\"RFC ")
    append(integer: Int64(section.rfc))
    append(" §")
    append(section.number)
    append(UInt8(ascii: "\""))
  }

  /// Appends a JSON string, or for what is not UTF-8 an object with one member.
  mutating func append(jsonOrBase64 bytes: [UInt8]) {
    append(json: StoredResponse.PropertyValue.text(ByteString(bytes)))
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
