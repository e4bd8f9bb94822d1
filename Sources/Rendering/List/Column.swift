public import Administration
public import Bytes
import HTTPCaching
public import ResponseStorage

/// A property of a stored response that a list can show.
public enum Column: Hashable, Sendable {
  case id
  case stored
  case firstStored
  case age
  case status
  case method
  case size
  case mime
  case url
  case requestURL
  case responseURL
  case host
  case path
  case scheme
  case partition
  case disk
  case bodyLocation
  case received
  case announced
  case policy
  case etag
  case lastModified
  case cacheControl
  case date
  case expires
  case freshness
  case ttl
  case lifetime
  case lifetimeSource
  case currentAge
  case expiresAt
  case validators
  case key
  case requestHeaders
  case responseHeaders
  case notes
  /// The `ETag` in the sidecar file; the folder is known when the list is made.
  case sidecarETag(in: SidecarTags?)
  /// How much of a recovered entry is left; what is known of all entries is added when the list is made.
  case confidence(of: RecoveredFacts?)
  /// Where a recovered entry was found.
  case found(of: RecoveredFacts?)
  /// The values that the app attached: one key or all.
  case userInfo(key: ByteString?)
  /// The values that the URL loading system attached: one key or all.
  case protocolProperties(key: ByteString?)

  /// The default columns for people, which fit into 80 columns of a terminal.
  public static let standard: [Column] = [.id, .age, .size, .status, .freshness, .url]

  /// More columns for people, which need a wide terminal.
  public static let wide: [Column] = [
    .id, .stored, .firstStored, .age, .ttl, .status, .method, .size, .mime, .url,
  ]

  /// The default columns for programs.
  public static let standardJSON: [Column] = [
    .id, .url, .method, .status, .mime, .size, .stored, .firstStored, .bodyLocation, .notes,
  ]

  /// The alignment of a cell in its column.
  public enum Alignment: Hashable, Sendable {
    case left
    case right
  }

  /// The alignment of the column in a table.
  public var alignment: Alignment {
    switch self {
    case .id, .age, .status, .size, .disk, .received, .announced, .lifetime, .currentAge: .right
    default: .left
    }
  }

  /// The parts of a response to decode for this column.
  public var projection: Projection {
    switch self {
    case .id: []
    case .stored, .age: .stored
    case .firstStored: .firstStored
    case .status: .status
    case .method: .method
    case .size, .disk, .bodyLocation: .body
    case .received, .announced: Exchange.projection
    case .mime: .mimeType
    case .url, .responseURL, .host, .path, .scheme: .url
    case .requestURL: [.url, .key, .requestDetails]
    case .partition, .policy: .storage
    case .key: .key
    case .requestHeaders: .requestHeaders
    case .etag, .lastModified, .cacheControl, .date, .expires, .responseHeaders: .responseHeaders
    case .freshness, .ttl, .lifetime, .lifetimeSource, .currentAge, .expiresAt, .validators:
      ResponseFreshness.projection
    case .notes: .notes
    case .sidecarETag: SidecarTags.projection
    case .confidence, .found: []
    case .userInfo: .userInfo
    case .protocolProperties: .protocolProperties
    }
  }
}

extension Column {
  /// Whether the column needs sidecar files.
  public var needsSidecars: Bool { if case .sidecarETag = self { true } else { false } }

  /// The default columns for people of a list of recovered entries.
  public static let standardRecovered: [Column] = [
    .id, .stored, .status, .size, .confidence(of: nil), .found(of: nil), .url,
  ]

  /// The default columns for programs of a list of recovered entries.
  public static let standardRecoveredJSON: [Column] =
    standardJSON + ofRecoveredEntries

  /// Returns the column with the facts that it needs; any other column is unchanged.
  public func reading(_ facts: RecoveredFacts) -> Column {
    switch self {
    case .confidence: .confidence(of: facts)
    case .found: .found(of: facts)
    default: self
    }
  }

  /// Returns the column with the sidecar files that it needs; any other column is unchanged.
  public func reading(_ tags: SidecarTags) -> Column {
    needsSidecars ? .sidecarETag(in: tags) : self
  }
}

extension Sequence<Column> {
  /// The parts of a response to decode for these columns.
  public var projection: Projection {
    reduce(into: []) { $0.formUnion($1.projection) }
  }
}

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
