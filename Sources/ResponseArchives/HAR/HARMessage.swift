import Bytes
import HTTPCaching
import ResponseStorage

/// A response and its request, as the members of HAR tell of them.
struct HARMessage {
  private let response: StoredResponse

  init(_ response: StoredResponse) {
    self.response = response
  }

  private var headers: HeaderFields { response.responseHeaders ?? HeaderFields() }

  /// The media type with its parameters; what Chrome writes if there is none.
  var contentType: ByteString {
    headers.firstValue(named: "content-type") ?? response.mimeType ?? "x-unknown"
  }

  /// Whether the media type is one of text.
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

  /// Where the response sends whoever asked; empty if nowhere.
  var location: ByteString { headers.firstValue(named: "location") ?? "" }

  /// Writes what is in `request`.
  func request(of url: ByteString, _ json: inout JSONWriter) {
    let request = response.request
    let headers = request.headers ?? HeaderFields()
    let uri = EscapedURI(url).text
    json.object { json in
      json.member("method") { $0.utf8(request.method ?? "GET") }
      json.member("url") { $0.utf8(uri) }
      json.member("httpVersion") { $0.string("unknown") }
      json.member("cookies") { $0.array([] as [String]) { $0.string($1) } }
      json.member("headers") { Self.fields(headers, &$0) }
      json.member("queryString") { json in
        json.array(Self.parameters(of: uri)) { Self.pair(&$0, $1.name, $1.value) }
      }
      if let body = request.body {
        json.member("postData") { json in
          json.object { json in
            json.member("mimeType") { $0.utf8(headers.firstValue(named: "content-type") ?? "") }
            if String(validating: body, as: UTF8.self) != nil {
              json.member("text") { $0.string(body) }
            } else {
              json.member("_encoding") { $0.string("base64") }
              json.member("text") { $0.string(Base64.encode(body)) }
            }
          }
        }
      }
      json.member("headersSize") { $0.integer(-1) }
      json.member("bodySize") { $0.integer(-1) }
    }
  }

  /// Writes what comes before the content in `response`.
  func responseHead(_ json: inout JSONWriter) {
    // 0 is what browsers write for a response that never came.
    json.member("status") { $0.integer(response.status ?? 0) }
    json.member("statusText") { $0.string(StatusCode.phrase(of: response.status ?? 0)) }
    json.member("httpVersion") { $0.string("unknown") }
    json.member("cookies") { $0.array([] as [String]) { $0.string($1) } }
    json.member("headers") { Self.fields(headers, &$0) }
  }

  /// Writes what only a cache knows of an entry.
  func extras(of url: ByteString, _ json: inout JSONWriter) {
    json.object { json in
      if case .row(let id) = response.id { json.member("entry_ID") { $0.string("\(id)") } }
      json.member("first_stored") { $0.time(response.firstStored) }
      json.member("partition") { json in
        if let partition = response.partition { json.utf8(partition) } else { json.null() }
      }
      if let other = response.request.url, other != url {
        json.member("request_url") { $0.utf8(EscapedURI(other).text) }
      }
      json.member("storage_policy") { json in
        if let policy = response.storagePolicy { json.integer(policy.number) } else { json.null() }
      }
    }
  }

  private static func fields(_ headers: HeaderFields, _ json: inout JSONWriter) {
    json.array(headers.fields) { pair(&$0, $1.name, $1.value) }
  }

  private static func pair(
    _ json: inout JSONWriter, _ name: ByteString, _ value: ByteString
  ) {
    json.object { json in
      json.member("name") { $0.utf8(name) }
      json.member("value") { $0.utf8(value) }
    }
  }

  /// The parameters of the query of a URL, as they stand there.
  private static func parameters(of url: ByteString) -> [(name: ByteString, value: ByteString)] {
    URLParts(url.bytes).parameters.map {
      (ByteString(Array($0.name)), ByteString(Array($0.value ?? [])))
    }
  }
}
