import ResponseStorage

/// What a condition can ask about, by the names of the options and the columns.
enum ConditionField: String, Hashable, Sendable, CaseIterable {
  case url, key, host, path, scheme, method, mime, partition
  case body, freshness, validator
  case status, size
  case age, ttl, lifetime
  case currentAge = "current-age"
  case stored
  case firstStored = "first-stored"
  case date
  case lastModified = "last-modified"
  case expiresAt = "expires-at"

  /// What the value of a field is, and so what it can be compared with.
  enum Kind: Hashable, Sendable {
    /// Text; where the case of its letters does not matter, in small letters.
    case text(ignoringCase: Bool)
    /// One of some words.
    case word([String])
    case status
    /// A number of bytes.
    case size
    /// A number of seconds.
    case duration
    /// A moment, in seconds since 1970.
    case time
  }

  /// What the value is.
  var kind: Kind {
    switch self {
    case .url, .key, .path, .partition: .text(ignoringCase: false)
    case .host, .scheme, .method, .mime: .text(ignoringCase: true)
    case .body: .word(StoredResponse.BodyLocation.allCases.map(\.rawValue))
    case .freshness: .word(ResponseFreshness.State.allCases.map(\.rawValue))
    case .validator: .word(ResponseFreshness.ValidatorKind.allCases.map(\.rawValue))
    case .status: .status
    case .size: .size
    case .age, .ttl, .lifetime, .currentAge: .duration
    case .stored, .firstStored, .date, .lastModified, .expiresAt: .time
    }
  }

  /// Whether the value depends on how fresh the response is.
  var needsFreshness: Bool {
    switch self {
    case .freshness, .validator, .ttl, .lifetime, .currentAge, .expiresAt: true
    default: false
    }
  }

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
    case .host, .path, .scheme: .url
    case .key: .key
    case .method: .method
    case .mime: .mimeType
    case .partition: .storage
    case .status: .status
    case .size, .body: .body
    default: []
    }
  }
}
