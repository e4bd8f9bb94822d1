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

  /// Appends a response to a document that is an array, with the digest of its body if it was computed.
  ///
  /// Ignores ``part``: programs select what they need.
  public mutating func appendJSON(
    _ response: StoredResponse, sha256: String?, into buffer: inout TextBuffer
  ) {
    if json.isEmpty { json.begin(in: &buffer.bytes) }
    // Copied, because the stream has exclusive access to `self` while the closure runs.
    let renderer = self
    json.append(to: &buffer.bytes) { json in
      json.object { renderer.write(response, sha256: sha256, to: &$0) }
    }
  }

  /// Ends the document.
  public mutating func endJSON(into buffer: inout TextBuffer) { json.end(in: &buffer.bytes) }

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
