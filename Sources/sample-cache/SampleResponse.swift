import Bytes
import ResponseStorage

/// A made-up response with its request, before a store has its way with it.
struct SampleResponse {
  /// What goes over the wire, but for the header fields.
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
  /// What the URL leads to, if all is well.
  let kind: MediaKind
  /// When the response was first and last stored, and whether that was more than once.
  let firstStored: Timestamp
  let stored: Timestamp
  let wasUpdated: Bool
  /// The response and the request.
  let exchange: Exchange
  let headers: ResponseHeaders
  let sent: RequestHeaders.Sent
}
