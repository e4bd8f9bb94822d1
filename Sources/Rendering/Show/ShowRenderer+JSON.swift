import Bytes
public import ResponseStorage

extension ShowRenderer {
  /// The columns of an entry with everything, before what no list shows.
  private static let columns: [Column] =
    Column.standardJSON + [
      .key, .partition, .policy, .freshness, .ttl, .lifetime, .lifetimeSource, .currentAge,
      .expiresAt, .validators, .received, .announced, .requestHeaders, .responseHeaders,
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
    EntryJSON(columns: Self.columns, secrets: secrets, now: now, expiryRules: expiryRules)
      .append(response, into: &buffer)
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
