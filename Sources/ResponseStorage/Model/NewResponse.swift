public import Bytes

/// A response with its request that does not come from an Apple store.
///
/// ``raw(id:)`` converts it to what CFNetwork would write, so that CFNetwork finds it.
public struct NewResponse {
  /// The request, which must have a `url`.
  public var request: StoredResponse.Request

  /// The URL of the response, after redirects.
  public var url: ByteString

  /// The status code.
  public var status: Int64

  /// The header fields as they were received, repeated ones included.
  public var headers: HeaderFields

  /// The media type without parameters.
  public var mimeType: ByteString?

  /// When the response was first stored; the fraction of a second is dropped.
  public var firstStored: Timestamp

  /// When the response was last stored or refreshed.
  public var stored: Timestamp

  /// The storage policy.
  public var storagePolicy = StoredResponse.StoragePolicy.allowed

  /// The cache partition, which is the top-level site that a page was loaded under.
  public var partition: ByteString?

  /// The user info that the app attached. Values that a property list cannot have are omitted.
  public var userInfo: [StoredResponse.Property] = []

  /// The body, without content codings; `nil` if there is none.
  public var body: Body?

  /// Creates a response to a request.
  ///
  /// - Parameters:
  ///   - url: The URL of the request and of the response.
  ///   - stored: When the response was stored.
  public init(
    url: ByteString, method: ByteString = "GET", requestHeaders: HeaderFields = HeaderFields(),
    status: Int64, headers: HeaderFields, stored: Timestamp, body: Body?
  ) {
    request = StoredResponse.Request()
    request.url = url
    request.method = method
    request.headers = requestHeaders
    self.url = url
    self.status = status
    self.headers = headers
    self.body = body
    self.stored = stored
    firstStored = stored
    mimeType = headers.mediaType
  }
}

extension HeaderFields {
  /// The media type in `Content-Type`, in lower case and without parameters (RFC 9110 §8.3.1); `nil` if there
  /// is none.
  public var mediaType: ByteString? {
    guard let value = firstValue(named: "content-type") else { return nil }
    // CFNetwork joins repeated fields with a comma, so the first of several values ends there.
    let type = value.bytes.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") }
    let name = type.trimmingBlanks
    return name.isEmpty ? nil : ByteString(name.map(\.asciiLowercased))
  }
}
