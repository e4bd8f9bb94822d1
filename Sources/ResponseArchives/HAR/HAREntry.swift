import Bytes
import ResponseStorage

/// The parts of a HAR entry that a cache can use.
///
/// A member of the wrong type counts as absent, since many programs write invalid HAR files.
struct HAREntry {
  /// The time at which the request started.
  var started: Timestamp?
  /// The duration of the exchange, in milliseconds.
  var milliseconds: Double?
  /// The method of the request.
  var method: ByteString?
  /// The requested URL.
  var url: ByteString?
  /// The header fields of the request.
  var requestHeaders = HeaderFields()
  /// The body of the request.
  var requestBody: [UInt8]?
  /// The status code of the response.
  var status: Int64?
  /// The header fields of the response.
  var headers = HeaderFields()
  /// The media type with its parameters.
  var contentType: ByteString?
  /// The body of the response.
  var content: HARContent?
  /// The name of the file with the body, as Playwright writes it.
  var contentFile: ByteString?
  /// The cache fields that this program writes.
  var extras = Extras()

  /// The fields of an entry that HAR has no place for.
  struct Extras {
    var firstStored: Timestamp?
    var partition: ByteString?
    var requestURL: ByteString?
    var storagePolicy: Int64?
  }

  /// Whether the method is GET, which is the default.
  var isGET: Bool { method.map { $0.asciiLowercased == "get" } ?? true }

  /// The ``finding`` for an entry with a partial body.
  static let isPart = "it has only part of a body"

  /// The ``finding`` for an entry whose body is in a file that is not there.
  static let lacksFile = "the file with its body is missing"

  /// The findings that mean that a body was lost.
  static let losses = [isPart, lacksFile]

  /// Uses the body in a file, unless the HAR has the body itself.
  mutating func attach(_ attachments: HARAttachments) {
    guard content == nil, let contentFile else { return }
    content = attachments.size(contentFile).map { HARContent(file: contentFile, size: $0) }
  }

  /// Why a cache cannot store the entry: a clause, or `nil` if it can.
  var finding: String? {
    guard let url else { return "it has no URL" }
    let start = url.asciiLowercased.bytes
    guard start.starts(with: "http://".utf8) || start.starts(with: "https://".utf8) else {
      return "its URL is not an HTTP URL"
    }
    switch status ?? 0 {
    // Browsers write status 0 for requests that were blocked, cancelled or failed.
    case 0: return "it has no response"
    case 100..<200: return "its response is only an interim response"
    // Served from a cache as complete responses, 206 and 304 would be wrong.
    case 206: return Self.isPart
    case 304: return "its response (304) only confirms a stored response"
    case 100...999: break
    default: return "its status is not an HTTP status"
    }
    // Programs leave out bodies that they did not keep. An empty body would be stored as if the
    // server had sent it.
    guard let content else { return contentFile == nil ? "it has no content" : Self.lacksFile }
    guard content.bodySize != nil else { return "its content is not Base64" }
    // Without the time there is no age, and the entry would be fresh or stale by accident.
    guard stored != nil else { return "it has no time" }
    return nil
  }

  /// The time at which the response was complete.
  private var stored: Timestamp? {
    guard let started else { return nil }
    // A duration of more than a day is not plausible, so it is ignored.
    guard let milliseconds, 0...86_400_000 ~= milliseconds else { return started }
    return Timestamp(secondsSince1970: started.secondsSince1970 + milliseconds / 1_000)
  }

  /// Returns the response to store; `nil` if there is a ``finding``.
  ///
  /// - Parameter body: The body.
  func newResponse(_ body: Body?) -> NewResponse? {
    guard finding == nil, let url, let status, let stored else { return nil }
    var response = NewResponse(
      url: url, method: isGET ? "GET" : method ?? "GET", requestHeaders: requestHeaders,
      status: status,
      headers: headers, stored: stored, body: body)
    // HAR has one URL for an exchange. After a redirect, a cache has two, and finds the response by
    // that of the request.
    response.request.url = extras.requestURL ?? url
    response.request.body = requestBody
    // Chrome's word for a response without a media type.
    if response.mimeType == nil, let contentType, contentType != "x-unknown" {
      response.mimeType = HeaderFields([.init(name: "content-type", value: contentType)]).mediaType
    }
    response.firstStored = extras.firstStored ?? stored
    response.partition = extras.partition
    response.storagePolicy = .init(stored: extras.storagePolicy ?? 0)
    return response
  }
}
