import Bytes
import HTTPCaching
import ResponseStorage

/// What a condition can ask about, by the names of the options and the columns.
enum ConditionField: String, Hashable, Sendable, CaseIterable {
  case url, key, host, path, query, scheme, method, mime, partition
  case etag
  case cacheControl = "cache-control"
  case storagePolicy = "storage-policy"
  case userInfo = "user-info"
  case body, partial, freshness, validator
  case status, size, received
  case age, ttl, lifetime
  case currentAge = "current-age"
  case stored
  case firstStored = "first-stored"
  case date
  case lastModified = "last-modified"
  case expiresAt = "expires-at"
  case entryClass = "class"
  case revalidation

  /// What the value of a field is, and so what it can be compared with.
  enum Kind: Hashable, Sendable {
    /// Text; where the case of its letters does not matter, in small letters.
    case text(ignoringCase: Bool)
    /// Text, a number, a truth value or a moment, as the app attached it.
    case property
    /// One of some words.
    case word([String])
    case status
    /// A number of bytes.
    case size
    /// A number of percent.
    case share
    /// A number of seconds.
    case duration
    /// A moment, in seconds since 1970.
    case time
  }

  /// The words for ``revalidation``.
  static func word(forRevalidationDue isDue: Bool) -> String { isDue ? "due" : "not-due" }

  /// What the value is.
  var kind: Kind {
    switch self {
    case .entryClass: .text(ignoringCase: false)
    case .revalidation: .word([true, false].map(Self.word(forRevalidationDue:)))
    case .url, .key, .path, .query, .partition, .etag: .text(ignoringCase: false)
    case .host, .scheme, .method, .mime, .cacheControl: .text(ignoringCase: true)
    case .userInfo: .property
    case .storagePolicy: .word(StoredResponse.StoragePolicy.names)
    case .body: .word(StoredResponse.BodyLocation.allCases.map(\.rawValue))
    case .partial: .word(["true", "false"])
    case .freshness: .word(ResponseFreshness.State.allCases.map(\.rawValue))
    case .validator: .word(ResponseFreshness.ValidatorKind.allCases.map(\.rawValue))
    case .status: .status
    case .size: .size
    case .received: .share
    case .age, .ttl, .lifetime, .currentAge: .duration
    case .stored, .firstStored, .date, .lastModified, .expiresAt: .time
    }
  }

  /// Whether it is written with a name in parentheses: `query("v")`.
  var takesName: Bool { self == .query || self == .userInfo }

  /// The field as a user writes it.
  var written: String { takesName ? "\(rawValue)(\"NAME\")" : rawValue }

  /// Whether the value depends on how fresh the response is.
  var needsFreshness: Bool {
    switch self {
    case .freshness, .validator, .ttl, .lifetime, .currentAge, .expiresAt: true
    default: false
    }
  }

  /// Whether the value is what rules of the configuration say.
  var needsRules: Bool { self == .entryClass || self == .revalidation }

  /// What the time of a response is taken from, if the value depends on one.
  ///
  /// - Parameter ageBasis: What ages are counted from.
  func timeBasis(_ ageBasis: AgeBasis) -> AgeBasis? {
    switch self {
    case .age: ageBasis
    case .stored: .stored
    case .firstStored: .firstStored
    case .date: .date
    case .lastModified: .lastModified
    default: nil
    }
  }

  /// What has to be decoded of a response.
  func projection(ageBasis: AgeBasis) -> Projection {
    if needsFreshness { return ResponseFreshness.projection }
    if let basis = timeBasis(ageBasis) { return basis.projection }
    return switch self {
    case .url: [.url, .key]
    case .host, .path, .query, .scheme: .url
    case .key: .key
    case .method: .method
    case .mime: .mimeType
    case .partition, .storagePolicy: .storage
    case .etag, .cacheControl: .responseHeaders
    case .userInfo: .userInfo
    case .status: .status
    case .size, .body: .body
    case .partial: BodyCompleteness.projection
    case .received: Exchange.projection
    default: []
    }
  }
}

/// What a comparison is about: a field, with the name that some fields need, as in `query("v")`.
struct ConditionSubject: Hashable, Sendable {
  var field: ConditionField
  /// The name of a parameter or a key; empty for the other fields.
  var name: ByteString = ""
}
