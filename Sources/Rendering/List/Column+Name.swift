public import Bytes

extension Column {
  /// All columns; those that take a key are included without one.
  public static let all: [Column] = [
    .id, .stored, .firstStored, .age, .status, .method, .size, .mime, .url, .requestURL,
    .responseURL,
    .host, .path, .scheme, .partition, .disk, .bodyLocation, .received, .announced, .policy,
    .etag, .lastModified,
    .cacheControl, .date, .expires,
    .freshness, .ttl, .lifetime, .lifetimeSource, .currentAge, .expiresAt, .validators, .key,
    .requestHeaders, .responseHeaders, .notes, .sidecarETag(in: nil), .userInfo(key: nil),
    .protocolProperties(key: nil),
  ]

  /// The columns that only recovered entries have.
  public static let ofRecoveredEntries: [Column] = [.confidence(of: nil), .found(of: nil)]

  /// Creates a column from its name on the command line: a name from ``all``, `user-info:KEY` or `proto-props:KEY`.
  public init?(name: String) {
    if let column = Self.all.first(where: { $0.plainName == name }) {
      self = column
    } else if let key = Self.key(of: name, after: "user-info:") {
      self = .userInfo(key: key)
    } else if let key = Self.key(of: name, after: "proto-props:") {
      self = .protocolProperties(key: key)
    } else {
      return nil
    }
  }

  /// The name of the column on the command line.
  public var name: ByteString { named(plainName) }

  /// The heading of the column in a table. A key in it is unchanged.
  public var title: ByteString {
    named(
      Self.replacing(in: plainName) { byte in
        byte == UInt8(ascii: "-") ? UInt8(ascii: " ") : byte & ~0x20
      })
  }

  /// The name of the column in JSON. A key in it is unchanged.
  public var jsonKey: ByteString {
    named(
      Self.replacing(in: plainName) { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 })
  }

  /// The name without a key, in lowercase with hyphens.
  private var plainName: String {
    switch self {
    case .id: "id"
    case .stored: "stored"
    case .firstStored: "first-stored"
    case .age: "age"
    case .status: "status"
    case .method: "method"
    case .size: "size"
    case .mime: "mime"
    case .url: "url"
    case .requestURL: "request-url"
    case .responseURL: "response-url"
    case .host: "host"
    case .path: "path"
    case .scheme: "scheme"
    case .partition: "partition"
    case .disk: "disk"
    case .bodyLocation: "body-location"
    case .received: "received"
    case .announced: "announced"
    case .policy: "policy"
    case .etag: "etag"
    case .lastModified: "last-modified"
    case .cacheControl: "cache-control"
    case .date: "date"
    case .expires: "expires"
    case .freshness: "freshness"
    case .ttl: "ttl"
    case .lifetime: "lifetime"
    case .lifetimeSource: "lifetime-source"
    case .currentAge: "current-age"
    case .expiresAt: "expires-at"
    case .validators: "validators"
    case .key: "key"
    case .requestHeaders: "request-headers"
    case .responseHeaders: "response-headers"
    case .notes: "notes"
    case .sidecarETag: "sidecar-etag"
    case .confidence: "confidence"
    case .found: "found"
    case .userInfo: "user-info"
    case .protocolProperties: "proto-props"
    }
  }

  /// Returns `name`, with a colon and the key if the column has one.
  private func named(_ name: String) -> ByteString {
    switch self {
    case .userInfo(let key?), .protocolProperties(let key?):
      ByteString(Array("\(name):".utf8) + key.bytes)
    default: ByteString(name)
    }
  }

  private static func replacing(in name: String, _ byte: (UInt8) -> UInt8) -> String {
    ByteString(name.utf8.map(byte)).string ?? name
  }

  private static func key(of name: String, after prefix: String) -> ByteString? {
    guard name.utf8.starts(with: prefix.utf8) else { return nil }
    let key = Array(name.utf8.dropFirst(prefix.utf8.count))
    // An empty key is most likely a typing error, and would silently show an empty column.
    return key.isEmpty ? nil : ByteString(key)
  }
}
