public import Administration
public import Bytes
import HTTPCaching
import JSON
public import ResponseStorage

/// Renders everything that is known about single responses.
public struct ShowRenderer: Sendable {
  /// The part of a response to show.
  public enum Part: Hashable, Sendable, CaseIterable {
    case everything

    /// Only the header fields of the response, as `Name: value` lines.
    case responseHeaders

    /// Only the request.
    case request
  }

  /// The part of a response to show.
  public var part: Part

  /// Which secrets the output may contain.
  public var secrets: SecretPolicy

  /// The time to which ages are measured.
  public var now: Timestamp

  /// The expiry rules of apps, which affect freshness.
  public var expiryRules: [UserInfoExpiry.Rule]

  /// The document to which ``appendJSON(_:sha256:into:)`` appends.
  var json = JSONStream(.hostileText)

  /// Creates a renderer.
  public init(
    part: Part = .everything, secrets: SecretPolicy, now: Timestamp,
    expiryRules: [UserInfoExpiry.Rule] = UserInfoExpiry.known
  ) {
    self.part = part
    self.secrets = secrets
    self.now = now
    self.expiryRules = expiryRules
  }

  /// Appends a response for people.
  ///
  /// - Parameter sha256: The digest of the body in hexadecimal, if it was computed.
  public func appendText(
    _ response: StoredResponse, sha256: String? = nil, into buffer: inout TextBuffer
  ) {
    switch part {
    case .responseHeaders:
      append(response.responseHeaders, indentation: "", into: &buffer)
    case .request:
      appendRequest(response, indentation: "", into: &buffer)
    case .everything:
      appendFacts(response, sha256: sha256, into: &buffer)
      buffer.append("\nRequest\n")
      appendRequest(response, indentation: "  ", into: &buffer)
      if response.isResponse {
        buffer.append("\nResponse\n  ")
        if let status = response.status {
          buffer.append(integer: status)
        } else {
          buffer.append("status unknown")
        }
        buffer.append(UInt8(ascii: "\n"))
        append(response.responseHeaders, indentation: "  ", into: &buffer)
      }
      append(response.userInfo, titled: "User info", into: &buffer)
      append(response.protocolProperties, titled: "Protocol properties", into: &buffer)
      if !response.notes.isEmpty { buffer.append("\nNotes\n") }
      for note in response.notes {
        buffer.append("  \(note.code.rawValue): ")
        buffer.append(shown: ByteString(note.message))
        buffer.append(UInt8(ascii: "\n"))
      }
    }
  }

  private func appendFacts(
    _ response: StoredResponse, sha256: String?, into buffer: inout TextBuffer
  ) {
    let facts: [(String, EntryField)] = [
      ("Entry", "id"), ("URL", "url"), ("Key", "key"), ("Stored", "stored"),
      ("First stored", "first-stored"), ("Freshness", "ttl"), ("Validators", "validators"),
      ("Media type", "mime"), ("Partition", "partition"), ("Type", "type"),
      ("Policy", "policy"), ("Body", "body-location"), ("Size", "size"),
    ]
    let cells = CellReader(
      facts.map(\.1), secrets: secrets, reader: .people,
      context: EntryContext(now: now, expiryRules: expiryRules))
    for (index, (title, column)) in facts.enumerated() {
      let value = cells.value(at: index, in: response)
      // Most entries have no partition, and entries of some archives no key. A hyphen would look
      // like something that is missing.
      if value == nil, ["partition", "type", "key"].contains(column.name) { continue }
      buffer.append(title)
      buffer.append(UInt8(ascii: " "), count: 14 - title.utf8.count)
      append(value, into: &buffer)
      if column.name == "id", case .file(let name) = response.id {
        buffer.append(" (")
        buffer.append(shown: name)
        buffer.append(")")
      }
      if column.name == "ttl",
        let freshness = ResponseFreshness(
          of: response, at: now, rules: expiryRules)
      {
        buffer.append(basisOf: freshness)
      }
      if column.name == "body-location", let name = response.bodyFileName {
        buffer.append(" ")
        buffer.append(shown: name)
      }
      if column.name == "size" { appendMissing(of: response, into: &buffer) }
      buffer.append(UInt8(ascii: "\n"))
    }
    if let sha256 {
      buffer.append("SHA-256       ")
      buffer.append(shown: ByteString(sha256))
      buffer.append(UInt8(ascii: "\n"))
    }
  }

  /// Appends how much of the body is stored, if it is incomplete.
  private func appendMissing(of response: StoredResponse, into buffer: inout TextBuffer) {
    guard let body = Exchange(of: response).flatMap({ ReceivedBody(of: $0) }),
      body.bytes < body.announced
    else { return }
    buffer.append(", \(body.wholePercent)% of the ")
    buffer.append(byteCount: ByteCount(body.announced))
    buffer.append(" announced")
  }

  /// Appends a value with its unit, and with the age of a time.
  func append(_ value: EntryField.Value?, into buffer: inout TextBuffer) {
    switch value {
    case .byteCount(let count):
      buffer.append(ByteSizeText.text(count))
      if count >= 1024 {
        buffer.append(" (")
        buffer.append(grouped: count.bytes)
        buffer.append(" bytes)")
      }
    case .time(let time):
      buffer.append(time: time)
      buffer.append(" (\(AgeText.words(from: time, to: now)))")
    case .duration(let seconds): buffer.append(AgeText.words(seconds: seconds))
    case .remainingLifetime(let seconds): buffer.append(remainingLifetimeInWords: seconds)
    case .freshness(let state): buffer.append(state.words, as: state?.emphasis)
    case nil: buffer.append("-")
    default: buffer.append(value, at: now)
    }
  }

  private func appendRequest(
    _ response: StoredResponse, indentation: String, into buffer: inout TextBuffer
  ) {
    let request = response.request
    buffer.append(indentation)
    buffer.append(shown: request.method ?? "-")
    buffer.append(UInt8(ascii: " "))
    buffer.append(shown: (request.url ?? response.url).map { secrets.url($0, for: .people) } ?? "-")
    buffer.append(UInt8(ascii: "\n"))
    append(request.headers, indentation: indentation, into: &buffer)
    if let policy = request.cachePolicy {
      buffer.append("\(indentation)(request policy \(policy))\n")
    }
    if let seconds = request.timeoutSeconds {
      buffer.append("\(indentation)(timeout \(seconds) s)\n")
    }
    if let body = request.body {
      buffer.append("\(indentation)(body \(ByteSizeText.text(ByteCount(body.count)))")
      // Masked as a whole: forms and JSON with passwords have too many shapes to find them all.
      buffer.append(secrets.showSecrets ? ")\n" : ", masked)\n")
      if secrets.showSecrets {
        buffer.append(indentation)
        buffer.append(shown: body)
        buffer.append(UInt8(ascii: "\n"))
      }
    }
  }

  private func append(
    _ headers: HeaderFields?, indentation: String, into buffer: inout TextBuffer
  ) {
    for field in headers.map(secrets.headers)?.fields ?? [] {
      buffer.append(indentation)
      buffer.append(shown: field.name)
      buffer.append(": ")
      buffer.append(shown: field.value)
      buffer.append(UInt8(ascii: "\n"))
    }
  }

  private func append(
    _ properties: [StoredResponse.Property], titled title: String,
    into buffer: inout TextBuffer
  ) {
    if properties.isEmpty { return }
    buffer.append("\n\(title)\n")
    for property in secrets.properties(properties) {
      buffer.append("  ")
      buffer.append(shown: property.key)
      buffer.append(": ")
      var text = TextBuffer()
      text.writeJSON { $0.value(property.value) }
      buffer.append(shown: text.bytes)
      buffer.append(UInt8(ascii: "\n"))
    }
  }
}

extension ShowRenderer {
  /// The columns of a complete entry; members that no list has follow them.
  private static let columns =
    EntryField.standardJSON + [
      "key", "partition", "type", "range", "policy", "freshness", "ttl", "lifetime",
      "lifetime-source",
      "current-age", "expires-at", "validators", "received", "announced", "request-headers",
      "response-headers",
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
    EntryJSON(
      columns: Self.columns, secrets: secrets,
      context: EntryContext(now: now, expiryRules: expiryRules)
    ).write(response, to: &json)
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
