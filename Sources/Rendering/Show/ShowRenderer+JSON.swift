import Bytes
import JSON
public import ResponseStorage

extension ShowRenderer {
  /// The columns of a complete entry; members that no list has follow them.
  private static let columns: [Column] =
    Column.standardJSON + [
      .key, .partition, .policy, .freshness, .ttl, .lifetime, .lifetimeSource, .currentAge,
      .expiresAt, .validators, .received, .announced, .requestHeaders, .responseHeaders,
    ]

  /// Appends responses as a JSON array, each with the digest of its body if it was computed.
  ///
  /// Ignores ``part``: programs select what they need.
  public func appendJSON(
    _ responses: [(response: StoredResponse, sha256: String?)], into buffer: inout TextBuffer
  ) {
    buffer.writeJSON { json in
      json.array(.lines) { json in
        for (response, sha256) in responses {
          json.object { write(response, sha256: sha256, to: &$0) }
        }
      }
      json.endLine()
    }
  }

  private func write(_ response: StoredResponse, sha256: String?, to json: inout JSONWriter) {
    // The members of `list` first, so that what reads one can read the other.
    EntryJSON(columns: Self.columns, secrets: secrets, now: now, expiryRules: expiryRules)
      .write(response, to: &json)
    let request = response.request
    json.member("sha256", sha256)
    json.member("body_file", utf8OrBase64: response.bodyFileName)
    json.member("request_url", url: request.url, secrets)
    json.key("request_body_base64")
    // The body of a request is where passwords are sent, and nothing in it can be masked reliably.
    if secrets.showSecrets, let body = request.body { json.base64(body) } else { json.null() }
    json.member("request_body_bytes", request.body?.count)
    json.member("cache_policy", request.cachePolicy)
    json.member("timeout", request.timeoutSeconds)
    json.key("user_info")
    json.properties(secrets.properties(response.userInfo))
    json.key("proto_props")
    json.properties(secrets.properties(response.protocolProperties))
  }
}
