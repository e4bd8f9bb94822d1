public import Administration
public import Bytes
import HTTPCaching
public import ResponseStorage

/// A fact about a stored response that a list can show.
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
  /// The `ETag` of the side file, in a folder that is given when the list is.
  case sidecarETag(in: SidecarTags?)
  /// What the application attached: the value of a key, or all of it.
  case userInfo(key: ByteString?)
  /// What the URL loading system attached: the value of a key, or all of it.
  case protocolProperties(key: ByteString?)

  /// The columns of a list for people.
  public static let standard: [Column] = [
    .id, .stored, .firstStored, .age, .ttl, .status, .method, .size, .mime, .url,
  ]

  /// The columns of a list for programs.
  public static let standardJSON: [Column] = [
    .id, .url, .method, .status, .mime, .size, .stored, .firstStored, .bodyLocation, .notes,
  ]

  /// To which side of its column a cell is moved.
  public enum Alignment: Hashable, Sendable {
    case left
    case right
  }

  /// To which side the cells of the column are moved in a table.
  public var alignment: Alignment {
    switch self {
    case .id, .age, .status, .size, .disk, .received, .announced, .lifetime, .currentAge: .right
    default: .left
    }
  }

  /// What has to be decoded of a response for this column.
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
    case .userInfo: .userInfo
    case .protocolProperties: .protocolProperties
    }
  }
}

extension Column {
  /// Whether the column needs side files.
  public var needsSidecars: Bool { if case .sidecarETag = self { true } else { false } }

  /// The column with the side files that it needs; any other as it is.
  public func reading(_ tags: SidecarTags) -> Column {
    needsSidecars ? .sidecarETag(in: tags) : self
  }
}

extension Sequence<Column> {
  /// What has to be decoded of a response for all these columns.
  public var projection: Projection {
    reduce(into: []) { $0.formUnion($1.projection) }
  }
}
