public import Bytes
import PropertyLists

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

/// A change of a stored response's user info that removes properties.
public struct UserInfoChange: Hashable, Sendable {
  /// The id of the response.
  public var id: StoredResponse.ID
  /// The user info when it was read.
  public var old: [UInt8]
  /// The new user info; `nil` if nothing is left.
  public var new: [UInt8]?

  /// The error that the user info of a response cannot be decoded, so that its contents are unknown.
  public struct Unreadable: Error, Hashable, Sendable {}

  /// Creates a change.
  public init(of id: StoredResponse.ID, from old: [UInt8], to new: [UInt8]?) {
    (self.id, self.old, self.new) = (id, old, new)
  }

  /// Creates a change that removes some properties from the user info of a response.
  ///
  /// - Returns: `nil` if the user info has none of them.
  public init?(removing keys: Set<ByteString>, from raw: RawResponse) throws(Unreadable) {
    guard let part = raw.part(.userInfo), let content = part.content else { return nil }
    // What cannot be decoded is an error and not an empty dictionary, or writing it back would
    // remove what the app has attached.
    guard !part.isText, let bytes = content.bytes,
      let list = try? BinaryPropertyList(bytes.span),
      case .dictionary(let entries)? = try? list.value(of: list.root)
    else { throw Unreadable() }
    let rest = entries.filter { !keys.contains(ByteString($0.key)) }
    guard rest.count < entries.count else { return nil }
    id = .row(raw.id)
    old = bytes
    new = rest.isEmpty ? nil : PropertyListWriter().bytes(of: .dictionary(rest))
  }
}
