import Administration
import Bytes
import HTTPCaching
import JSON

/// The members of explanations about the next request.
extension ExplanationRenderer {
  func write(_ validators: Validators, to json: inout JSONWriter) {
    json.array("validators") { json in
      if let tag = validators.entityTag {
        json.object { json in
          json.member("type", word: "etag")
          json.key("value")
          json.utf8OrBase64(tag.verbatim)
          // Only a strong validator can be used to complete a body (RFC 9110 §8.8.1).
          json.member("strong", tag.isStrong)
          json.null("time")
          json.member(weaknessesOf: .entityTag, in: validators.fieldFindings)
        }
      }
      if let date = validators.lastModified {
        json.object { json in
          json.member("type", word: "last-modified")
          json.key("value")
          json.utf8OrBase64(date.verbatim)
          json.member("strong", date.isStrong)
          json.member("time", Timestamp(secondsSince1970: Double(date.secondsSince1970)))
          json.member(weaknessesOf: .lastModified, in: validators.fieldFindings)
        }
      }
    }
  }

  func write(
    conditional details: Explanation.Details, of explanation: Explanation,
    to json: inout JSONWriter
  ) {
    let request = details.conditional.unconditional
    json.object("conditional_request") { json in
      json.key("method")
      json.utf8OrBase64(request.method)
      json.member("purpose", word: details.conditional.purpose.rawValue)
      json.object("headers") { json in
        write(
          FieldSection(request.fields.lines.filter { !explanation.isStoredCredential($0) }),
          to: &json)
        for line in details.conditional.conditions { json.member(line.name, line.value) }
      }
      json.member("needs_credentials", explanation.credentials != .none)
      json.object("credential_headers") { json in
        write(FieldSection(details.exchange.credentials), to: &json)
      }
    }
  }

  private func write(_ fields: FieldSection, to json: inout JSONWriter) {
    for (index, line) in fields.lines.enumerated() {
      let name = FieldName(of: line)
      // A member of an object can be there only once, so repeated lines are joined, as RFC 9110
      // §5.3 allows.
      if fields.lines[..<index].contains(where: { name.matches($0) }) { continue }
      json.member(line.name, fields.shownValue(of: name, secrets) ?? [])
    }
  }

  /// Writes how much of the body is stored, and the header fields that would request the rest, for any client.
  func write(received details: Explanation.Details, to json: inout JSONWriter) {
    if let body = details.received {
      json.object("received") { json in
        json.member("bytes", body.bytes)
        json.member("announced", body.announced)
      }
    } else {
      json.null("received")
    }
    guard details.conditional.purpose == .completion else { return json.null("resume_headers") }
    json.object("resume_headers") { json in
      for line in details.conditional.conditions { json.member(line.name, line.value) }
    }
  }
}

extension JSONWriter {
  /// Writes a string, an object with one member for bytes that are not UTF-8, or `null`.
  mutating func utf8OrBase64(_ text: [UInt8]?) {
    if let text { utf8OrBase64(text) } else { null() }
  }

  /// Writes a header field.
  fileprivate mutating func member(_ name: [UInt8], _ value: [UInt8]) {
    key(utf8OrBase64: ByteString(name))
    utf8OrBase64(value)
  }

  /// Writes the remarks that make a validator weak.
  fileprivate mutating func member(weaknessesOf field: FieldName, in fieldFindings: [FieldFinding])
  {
    array("weaknesses") { json in
      for finding in fieldFindings where finding.field == field { json.word(finding.kind.rawValue) }
    }
  }
}
