public import Bytes
import Files
public import ResponseStorage
public import Secrets

/// Something that an audit found in a cache.
public struct AuditFinding: Hashable, Sendable {
  /// The rule.
  public var rule: AuditRule

  /// The entry; `nil` for the files of the cache.
  public var id: StoredResponse.ID?

  /// The URL of the entry.
  public var url: ByteString?

  /// The host of the URL.
  public var host: ByteString?

  /// The place in the entry or in the files.
  public var place: AuditPlace

  /// The offset of the secret in the decoded text of the place.
  public var offset: Int64?

  /// What was found, apart from secrets; may be hostile. `nil` if the rule says it all.
  public var detail: ByteString?

  /// The secret; `nil` if the finding is about something else.
  public var secret: SecretMatch?

  /// How often it was found at the place.
  public var count: Int64 = 1

  /// The bytes concerned: the body of the entry, the file, or what is wasted.
  public var bytes: ByteCount = 0

  /// Creates a finding about an entry or a file.
  init(
    _ rule: AuditRule, _ place: AuditPlace = .entry, detail: ByteString? = nil,
    secret: SecretMatch? = nil, bytes: ByteCount = 0
  ) {
    (self.rule, self.place, self.detail, self.secret) = (rule, place, detail, secret)
    (offset, self.bytes) = (secret?.offset, bytes)
  }

  /// What makes the finding the same in another run: the rule, the URL without its query, the place and the secret, but
  /// not the id of the entry. 16 hexadecimal digits.
  public var identity: String {
    var digest = Digest()
    func add(_ bytes: [UInt8]) {
      digest.update(bytes[...])
      digest.update([0])
    }
    add(Array(rule.id.utf8))
    let path = url.map { URLParts(URLParts($0.bytes).withoutUserInfo) }
    add(path.map { Array($0.bytes[..<$0.path.endIndex]) } ?? [])
    add(Array(place.kind.utf8))
    add(place.name?.asciiLowercased.bytes ?? [])
    add(secret.map { Array($0.fingerprint.utf8) } ?? [])
    return String(decoding: Base16.encode(Array(digest.bytes[..<8])), as: UTF8.self)
  }
}

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
