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
