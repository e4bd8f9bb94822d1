import Bytes
import HTTPCaching
import ResponseStorage

/// A field that a condition can test, named like the options and the columns.
enum ConditionField: String, Hashable, Sendable, CaseIterable {
  case url, key, host, path, query, scheme, method, mime, partition
  case header
  case requestHeader = "request-header"
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

  /// The kind of value of a field, which defines the operators it takes.
  enum Kind: Hashable, Sendable {
    /// Text; lowercased if case does not matter.
    case text(ignoringCase: Bool)
    /// Text, a number, a Boolean or a date, as the app attached it.
    case property
    /// One of several words.
    case word([String])
    /// One of several words for where the body is, or with `*=` a text in it.
    case body([String])
    case status
    /// A number of bytes.
    case size
    /// A percentage.
    case share
    /// A number of seconds.
    case duration
    /// A time, in seconds since 1970.
    case time
  }

  /// The words for ``revalidation``.
  static func word(forRevalidationDue isDue: Bool) -> String { isDue ? "due" : "not-due" }

  /// The kind of the value.
  var kind: Kind {
    switch self {
    case .entryClass: .text(ignoringCase: false)
    case .revalidation: .word([true, false].map(Self.word(forRevalidationDue:)))
    case .url, .key, .path, .query, .partition, .etag, .header, .requestHeader:
      .text(ignoringCase: false)
    // Schemes, hosts, media types and directives are case-insensitive (RFC 3986 §3.1 and §3.2.2,
    // RFC 9110 §8.3.1, RFC 9111 §5.2). Methods are not (RFC 9110 §9.1), but `--method` ignores
    // their case as well.
    case .host, .scheme, .method, .mime, .cacheControl: .text(ignoringCase: true)
    case .userInfo: .property
    case .storagePolicy: .word(StoredResponse.StoragePolicy.names)
    case .body: .body(StoredResponse.BodyLocation.allCases.map(\.rawValue))
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

  /// Whether it takes a name in parentheses: `query("v")`.
  var takesName: Bool { [.query, .userInfo, .header, .requestHeader].contains(self) }

  /// The field, as users write it.
  var written: String { takesName ? "\(rawValue)(\"NAME\")" : rawValue }

  /// Whether the value depends on freshness.
  var needsFreshness: Bool {
    switch self {
    case .freshness, .validator, .ttl, .lifetime, .currentAge, .expiresAt: true
    default: false
    }
  }

  /// Whether the value depends on the rules of the configuration.
  var needsRules: Bool { self == .entryClass || self == .revalidation }

  /// Returns the time that the value depends on, if there is one.
  ///
  /// - Parameter ageBasis: The time from which ages count.
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

  /// Returns the fields to decode of a response.
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
    case .etag, .cacheControl, .header: .responseHeaders
    case .requestHeader: .requestHeaders
    case .userInfo: .userInfo
    case .status: .status
    case .size, .body: .body
    case .partial: BodyCompleteness.projection
    case .received: Exchange.projection
    default: []
    }
  }
}

/// The subject of a comparison: a field, with a name where needed, as in `query("v")`.
struct ConditionSubject: Hashable, Sendable {
  var field: ConditionField
  /// The name of the parameter or key; empty for other fields.
  var name: ByteString = ""
}

extension ConditionField {
  /// Rejects a host or media type that no response can have, like the options of the same names.
  func check(_ text: String, _ sign: ConditionOperator) throws(WrittenValueError) {
    let isWhole = [.equal, .notEqual, .oneOf].contains(sign)
    if self == .mime, isWhole {
      if !text.isEmpty, !text.utf8.contains(UInt8(ascii: "/")) {
        throw WrittenValueError(
          text, "is not a complete media type",
          hint: "use '^=' to match the beginning, for example 'mime ^= \"\(text)/\"'")
      }
      // `--mime` takes patterns, so users expect them here, too. Compared literally, the text would
      // match nothing, and a clean-up would do nothing without saying so.
      if text.utf8.contains(UInt8(ascii: "*")) {
        throw WrittenValueError(
          text, "contains '*', which no media type does",
          hint: "use '^=' to match the beginning, for example 'mime ^= \"image/\"'")
      }
    }
    guard self == .host else { return }
    if isWhole {
      _ = try WrittenValue.host(text)
    } else if text.utf8.contains(UInt8(ascii: "*")) {
      throw WrittenValueError(
        text, "contains '*', which no host does", hint: "remove the '*'")
    }
  }

  /// Returns a text in the form in which the field is compared with it.
  func compared(_ text: String, _ sign: ConditionOperator) -> String {
    guard self == .host else { return text }
    let isWhole = [.equal, .notEqual, .oneOf].contains(sign)
    let host = isWhole ? HostPattern(ByteString(text)).name : HostName.mapped(ByteString(text))
    return host.string ?? text
  }

  /// Returns a note for the user about a value.
  func note(about text: String, _ sign: ConditionOperator) -> String? {
    guard self == .url, [.equal, .notEqual, .oneOf, .beginsWith].contains(sign) else { return nil }
    return WrittenValue.schemeNote(about: text)
  }
}

extension WrittenValue {
  /// The schemes that users may be starting to type.
  private static let schemes = [
    "http://", "https://", "file://", "data:", "blob:", "ws://", "wss://",
  ]

  /// Returns a note if a URL prefix without a `:` looks like a host; `nil` otherwise.
  static func schemeNote(about text: String) -> String? {
    // Users who write a host without a scheme select nothing. The text cannot be refused, because
    // some other scheme may begin with it, so it only causes a note.
    guard mayBeginURL(text), !text.utf8.contains(UInt8(ascii: ":")),
      !schemes.contains(where: { $0.utf8.starts(with: text.utf8) })
    else { return nil }
    return
      "'\(text)' is the start of a scheme, not of a host; use 'https://\(text)' for a host"
  }
}
