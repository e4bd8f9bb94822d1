public import ResponseStorage

extension ShowRenderer {
  /// The columns of an entry with everything, before what no list shows.
  private static let columns: [Column] =
    Column.standardJSON + [
      .key, .partition, .policy, .requestHeaders, .responseHeaders,
    ]

  /// Appends the responses as a JSON array, each with the digest of its body if it was worked out.
  ///
  /// ``part`` does not matter: programs take what they need.
  public func appendJSON(
    _ responses: [(response: StoredResponse, sha256: String?)], into buffer: inout TextBuffer
  ) {
    buffer.append("[")
    for (index, item) in responses.enumerated() {
      buffer.append(index == 0 ? "\n" : ",\n")
      append(item.response, sha256: item.sha256, into: &buffer)
    }
    buffer.append(responses.isEmpty ? "]\n" : "\n]\n")
  }

  private func append(
    _ response: StoredResponse, sha256: String?, into buffer: inout TextBuffer
  ) {
    buffer.append(UInt8(ascii: "{"))
    EntryJSON(columns: Self.columns, secrets: secrets, now: now).append(response, into: &buffer)
    let request = response.request
    buffer.append(",\"sha256\":")
    buffer.append(json: sha256)
    buffer.append(",\"body_file\":")
    buffer.append(json: response.bodyFileName, orBase64Named: "body_file")
    buffer.append(",\"request_url\":")
    let url = request.url.map { secrets.url($0, for: .programs) }
    buffer.append(json: url, orBase64Named: "request_url")
    buffer.append(",\"request_body_base64\":")
    if secrets.showSecrets, let body = request.body {
      buffer.append(base64: body)
    } else {
      buffer.append("null")
    }
    buffer.append(",\"request_body_bytes\":")
    buffer.append(json: request.body.map { Int64($0.count) })
    buffer.append(",\"cache_policy\":")
    buffer.append(json: request.cachePolicy)
    buffer.append(",\"timeout\":")
    buffer.append(json: request.timeoutSeconds)
    buffer.append(",\"user_info\":")
    buffer.append(json: secrets.properties(response.userInfo))
    buffer.append(",\"proto_props\":")
    buffer.append(json: secrets.properties(response.protocolProperties))
    buffer.append(UInt8(ascii: "}"))
  }
}

extension TextBuffer {
  /// Appends properties as a JSON object; a key that is not UTF-8 is `base64:` and its Base64.
  mutating func append(json properties: [StoredResponse.Property]) {
    append(UInt8(ascii: "{"))
    for (index, property) in properties.enumerated() {
      if index > 0 { append(UInt8(ascii: ",")) }
      if !append(json: property.key.bytes) {
        append("\"base64:")
        var key = TextBuffer()
        key.append(base64: property.key.bytes)
        append(contentsOf: key.bytes.dropFirst())
      }
      append(UInt8(ascii: ":"))
      append(json: property.value)
    }
    append(UInt8(ascii: "}"))
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
