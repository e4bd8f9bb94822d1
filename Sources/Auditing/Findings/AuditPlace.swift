public import Bytes

/// The place in an entry, or in the files of a cache, that a finding is about.
public enum AuditPlace: Hashable, Sendable {
  /// The entry as a whole.
  case entry
  /// The URL.
  case url
  /// A header field of the request.
  case requestField(ByteString)
  /// The body of the request.
  case requestBody
  /// A header field of the response.
  case responseField(ByteString)
  /// The body of the response, decoded.
  case body
  /// A value of the user info.
  case userInfo(ByteString)
  /// A property of the request.
  case property(ByteString)
  /// A file of the cache.
  case file(ByteString)
  /// A page of a file that belongs to no entry, or a frame of its log.
  case page(file: ByteString, frame: Int?, page: UInt32)

  /// The name in JSON, which does not contain any text of the cache.
  public var kind: String {
    switch self {
    case .entry: "entry"
    case .url: "url"
    case .requestField: "request"
    case .requestBody: "request-body"
    case .responseField: "response"
    case .body: "body"
    case .userInfo: "user-info"
    case .property: "property"
    case .file: "file"
    case .page: "left-behind"
    }
  }

  /// The name of the field, the key or the file; `nil` if the place has none.
  public var name: ByteString? {
    switch self {
    case .entry, .url, .requestBody, .body: nil
    case .requestField(let name), .responseField(let name), .userInfo(let name),
      .property(let name), .file(let name), .page(let name, _, _):
      name
    }
  }
}
