import Bytes
import HTTPCaching
import JSON
import ResponseStorage

/// Writes the HAR members of a response and its request.
struct HARMessage {
  private let response: StoredResponse

  init(_ response: StoredResponse) {
    self.response = response
  }

  private var headers: HeaderFields { response.responseHeaders ?? HeaderFields() }

  /// The media type with its parameters; `x-unknown` if there is none, as in Chrome.
  var contentType: ByteString {
    headers.firstValue(named: "content-type") ?? response.mimeType ?? "x-unknown"
  }

  /// Whether the media type is textual.
  var isText: Bool {
    let field = HeaderFields.Field(name: "content-type", value: contentType)
    guard let type = HeaderFields([field]).mediaType?.bytes else { return false }
    return type.starts(with: "text/".utf8)
      || Self.textTypes.contains { type.elementsEqual($0.utf8) }
      || ["+json", "+xml"].contains { type.reversed().starts(with: $0.utf8.reversed()) }
  }

  private static let textTypes = [
    "application/json", "application/javascript", "application/x-javascript",
    "application/ecmascript", "application/xml", "application/x-www-form-urlencoded",
    "application/graphql", "application/x-ndjson",
  ]

  /// The target of a redirect; empty if there is none.
  var location: ByteString { headers.firstValue(named: "location") ?? "" }

  /// Writes `request`.
  func request(of url: ByteString, _ json: inout JSONWriter) {
    let request = response.request
    let headers = request.headers ?? HeaderFields()
    let uri = EscapedURI(url).text
    json.object("request") { json in
      json.member("method", percentEscaping: request.method ?? "GET")
      json.member("url", percentEscaping: uri)
      // No store records the version, so `HTTP/1.1` would be a guess.
      json.member("httpVersion", "unknown")
      // HAR requires the member. The header fields have the cookies, if the user keeps them.
      json.array("cookies") { _ in }
      Self.fields(headers, &json)
      json.array("queryString", objects: Self.parameters(of: uri)) {
        Self.pair(&$0, $1.name, $1.value)
      }
      if let body = request.body {
        json.object("postData") { json in
          json.member("mimeType", percentEscaping: headers.firstValue(named: "content-type") ?? "")
          if String(validating: body, as: UTF8.self) != nil {
            json.member("text", repairing: body)
          } else {
            json.member("_encoding", "base64")
            json.key("text")
            json.base64(body)
          }
        }
      }
      json.member("headersSize", -1)
      json.member("bodySize", -1)
    }
  }

  /// Writes the members of `response` that precede `content`.
  func responseHead(_ json: inout JSONWriter) {
    // Browsers write 0 for a response that never arrived.
    json.member("status", response.status ?? 0)
    json.member("statusText", StatusCode.phrase(of: response.status ?? 0))
    json.member("httpVersion", "unknown")
    json.array("cookies") { _ in }
    Self.fields(headers, &json)
  }

  /// Writes the fields of an entry that HAR has no place for.
  func extras(of url: ByteString, _ json: inout JSONWriter) {
    json.object("_urlcache") { json in
      // A string, because JavaScript loses the lowest bits of numbers beyond 2^53.
      if case .row(let id) = response.id { json.member("entry_ID", "\(id)") }
      json.member("first_stored", response.firstStored)
      if let partition = response.partition {
        json.member("partition", percentEscaping: partition)
      } else {
        json.null("partition")
      }
      if let other = response.request.url, other != url {
        json.member("request_url", percentEscaping: EscapedURI(other).text)
      }
      json.member("storage_policy", response.storagePolicy?.number)
    }
  }

  private static func fields(_ headers: HeaderFields, _ json: inout JSONWriter) {
    json.array("headers", objects: headers.fields) { pair(&$0, $1.name, $1.value) }
  }

  private static func pair(
    _ json: inout JSONWriter, _ name: ByteString, _ value: ByteString
  ) {
    json.member("name", percentEscaping: name)
    json.member("value", percentEscaping: value)
  }

  /// Returns the query parameters of a URL, still percent-escaped.
  private static func parameters(of url: ByteString) -> [(name: ByteString, value: ByteString)] {
    URLParts(url.bytes).parameters.map {
      (ByteString(Array($0.name)), ByteString(Array($0.value ?? [])))
    }
  }
}
