import Bytes
import ResponseStorage

/// A sample response with its request, independent of the store format.
struct SampleResponse {
  /// The request and response, without header fields.
  struct Exchange {
    var method = "GET"
    var requestBody: [UInt8]?
    var status: Int64 = 200
    var kind: MediaKind
    var location: String?
    var body: [UInt8]
  }

  /// The number of the response, from zero.
  let number: Int
  /// The host, and the URL on it.
  let host: String
  let url: SampleURL
  /// The kind of the URL, unless the response is an error.
  let kind: MediaKind
  /// The times at which the response was first and last stored, and whether it was stored more than once.
  let firstStored: Timestamp
  let stored: Timestamp
  let wasUpdated: Bool
  /// The response and the request.
  let exchange: Exchange
  let headers: ResponseHeaders
  let sent: RequestHeaders.Sent
}
