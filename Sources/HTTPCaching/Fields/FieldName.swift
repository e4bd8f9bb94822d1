import Bytes

/// The name of a header field, compared ignoring case (RFC 9110 §5.1).
public struct FieldName: Hashable, Sendable, ExpressibleByStringLiteral {
  private enum Form: Hashable, Sendable {
    case known(KnownFieldName)
    /// The bytes of an unknown name, with ASCII capitals in lowercase.
    case other([UInt8])
  }

  private let form: Form

  /// Creates a name, ignoring the case of ASCII letters.
  public init(_ bytes: some Sequence<UInt8>) {
    self.init(Array(bytes))
  }

  /// Creates a name, ignoring the case of ASCII letters.
  public init(_ bytes: [UInt8]) {
    form = KnownFieldName(bytes.span).map { .known($0) } ?? .other(bytes.map(\.asciiLowercased))
  }

  public init(stringLiteral value: StaticString) {
    self.init(value.description.utf8)
  }

  /// Creates the name of a field line.
  public init(of line: FieldLine) {
    form = line.known.map { .known($0) } ?? .other(line.name.map(\.asciiLowercased))
  }

  /// Creates a known name.
  init(_ known: KnownFieldName) {
    form = .known(known)
  }

  /// The field, if it is known.
  var known: KnownFieldName? {
    if case .known(let known) = form { known } else { nil }
  }

  /// The bytes of the name, with ASCII capitals in lowercase.
  public var lowercased: [UInt8] {
    switch form {
    case .known(let known): Array(known.lowercased.utf8)
    case .other(let name): name
    }
  }

  /// Whether the name is a token, as field names must be (RFC 9110 §5.1).
  public var isValid: Bool {
    switch form {
    case .known: true
    // A name from a cache that is no token could end its line and begin another header field, if it
    // was sent.
    case .other(let name): name.isToken
    }
  }

  /// Whether the bytes are this name, in any case (RFC 9110 §5.1).
  public func matches(_ bytes: [UInt8]) -> Bool { matches(bytes.span) }

  /// Whether the bytes are this name, in any case (RFC 9110 §5.1).
  public func matches(_ bytes: Span<UInt8>) -> Bool {
    switch form {
    case .known(let known): KnownFieldName(bytes) == known
    case .other(let name): bytes.equalsIgnoringCase(name)
    }
  }

  /// Whether the line belongs to this field (RFC 9110 §5.1).
  public func matches(_ line: borrowing FieldLine) -> Bool {
    switch form {
    case .known(let known): line.known == known
    // A line with a known name cannot match, which saves the comparison.
    case .other(let name): line.known == nil && line.name.span.equalsIgnoringCase(name)
    }
  }
}

// The fields that this module reads or writes.
extension FieldName {
  /// `Age` (RFC 9111 §5.1).
  public static var age: FieldName { FieldName(.age) }
  /// `Cache-Control` (RFC 9111 §5.2).
  public static var cacheControl: FieldName { FieldName(.cacheControl) }
  /// `Connection` (RFC 9110 §7.6.1).
  public static var connection: FieldName { FieldName(.connection) }
  /// `Content-Encoding` (RFC 9110 §8.4).
  public static var contentEncoding: FieldName { FieldName(.contentEncoding) }
  /// `Content-Length` (RFC 9110 §8.6).
  public static var contentLength: FieldName { FieldName(.contentLength) }
  /// `Content-Location` (RFC 9110 §8.7).
  public static var contentLocation: FieldName { FieldName(.contentLocation) }
  /// `Content-Range` (RFC 9110 §14.4).
  public static var contentRange: FieldName { FieldName(.contentRange) }
  /// `Date` (RFC 9110 §6.6.1).
  public static var date: FieldName { FieldName(.date) }
  /// `ETag` (RFC 9110 §8.8.3).
  public static var entityTag: FieldName { FieldName(.entityTag) }
  /// `Expires` (RFC 9111 §5.3).
  public static var expires: FieldName { FieldName(.expires) }
  /// `If-Modified-Since` (RFC 9110 §13.1.3).
  public static var ifModifiedSince: FieldName { FieldName(.ifModifiedSince) }
  /// `If-None-Match` (RFC 9110 §13.1.2).
  public static var ifNoneMatch: FieldName { FieldName(.ifNoneMatch) }
  /// `If-Range` (RFC 9110 §13.1.5).
  public static var ifRange: FieldName { FieldName(.ifRange) }
  /// `Last-Modified` (RFC 9110 §8.8.2).
  public static var lastModified: FieldName { FieldName(.lastModified) }
  /// `Pragma` (RFC 9111 §5.4).
  public static var pragma: FieldName { FieldName(.pragma) }
  /// `Range` (RFC 9110 §14.2).
  public static var range: FieldName { FieldName(.range) }
  /// `Vary` (RFC 9110 §12.5.5).
  public static var vary: FieldName { FieldName(.vary) }

  /// `Authorization` (RFC 9110 §11.6.2).
  public static var authorization: FieldName { FieldName(.authorization) }
  /// `Cookie` (RFC 6265 §4.2).
  public static var cookie: FieldName { FieldName(.cookie) }
  /// `Proxy-Authenticate` (RFC 9110 §11.7.1).
  public static var proxyAuthenticate: FieldName { FieldName(.proxyAuthenticate) }
  /// `Proxy-Authorization` (RFC 9110 §11.7.2).
  public static var proxyAuthorization: FieldName { FieldName(.proxyAuthorization) }
  /// `Set-Cookie` (RFC 6265 §4.1).
  public static var setCookie: FieldName { FieldName(.setCookie) }
  /// `WWW-Authenticate` (RFC 9110 §11.6.1).
  public static var authenticate: FieldName { FieldName(.authenticate) }

  /// The response fields that decide whether a response is stored and reused, here or by other caches, and those that
  /// make it private.
  public static let ofResponse: [FieldName] = [
    // `Set-Cookie` and the authentication fields are among them, as they show that a response is
    // meant for one user.
    .age, .authenticate, .cacheControl, .contentEncoding, .contentLength, .contentLocation,
    .contentRange, .date, .entityTag, .expires, .lastModified, .pragma, .proxyAuthenticate,
    .setCookie, .vary,
  ]

  /// The request fields that decide the same, except those that `Vary` names.
  public static let ofRequest: [FieldName] = [
    .authorization, .cacheControl, .cookie, .pragma, .proxyAuthorization,
  ]

  /// The fields that freshness and validators depend on (RFC 9111 §4.2, RFC 9110 §8.8).
  public static let ofFreshness = FreshnessField.allCases.map { FieldName($0.known) }
}

/// A set of field names with a fast lookup.
public struct FieldNameSet: Sendable {
  /// A bit for each known name.
  private var known: UInt32 = 0
  private var others: [FieldName] = []

  /// Creates a set of names.
  public init(_ names: some Sequence<FieldName>) {
    for name in names { insert(name) }
  }

  /// Inserts a name that is not in the set.
  public mutating func insert(_ name: FieldName) {
    if let number = name.known?.rawValue {
      known |= 1 << UInt32(number)
    } else {
      others.append(name)
    }
  }

  /// The member of the set that equals the bytes, ignoring case; `nil` if there is none (RFC 9110 §5.1).
  ///
  /// - Complexity: O(*n*), where *n* is the number of names in the set that this module does not know.
  public func name(matching bytes: Span<UInt8>) -> FieldName? {
    if let found = KnownFieldName(bytes) {
      return known >> UInt32(found.rawValue) & 1 == 1 ? FieldName(found) : nil
    }
    if others.isEmpty { return nil }
    // Iterating over the array would retain and release each name.
    let others = others.span
    for index in others.indices where others[index].matches(bytes) { return others[index] }
    return nil
  }
}

/// Names in lowercase ASCII that are compared with bytes, ignoring case.
///
/// All letters are in one array. Reading them from a `String` takes ten times as long, and with an array of names,
/// threads would contend for the reference counts.
struct NameTable: Sendable {
  // The longest known name, `stale-while-revalidate`, has 22 letters. A fixed room for each makes
  // the place of a name a product.
  private static let room = 24

  private let letters: [UInt8]

  /// - Parameter names: Names of at most 23 letters.
  init(_ names: [String]) {
    // The padding is a capital, which occurs neither in a name nor in lowercased bytes.
    letters = names.flatMap { name in
      Array(name.utf8) + repeatElement(UInt8(ascii: "A"), count: Self.room - name.utf8.count)
    }
  }

  /// Whether the bytes equal the name at an index of the table.
  func matches(_ bytes: Span<UInt8>, at place: Int) -> Bool {
    // One byte of padding must remain, because it marks the end of the name.
    guard bytes.count < Self.room else { return false }
    let name = letters.span.extracting((place * Self.room)..<((place + 1) * Self.room))
    for index in bytes.indices where bytes[index].asciiLowercased != name[index] { return false }
    return name[bytes.count] == UInt8(ascii: "A")
  }
}

/// A field that this module reads or writes.
///
/// A known name takes one byte: comparing two is cheap, and threads do not contend for a reference count.
enum KnownFieldName: UInt8, Hashable, Sendable, CaseIterable {
  case age
  case authenticate
  case authorization
  case cacheControl
  case connection
  case contentEncoding
  case contentLength
  case contentLocation
  case contentRange
  case cookie
  case date
  case entityTag
  case expires
  case ifModifiedSince
  case ifNoneMatch
  case ifRange
  case lastModified
  case pragma
  case proxyAuthenticate
  case proxyAuthorization
  case range
  case setCookie
  case vary

  /// The name in lower-case ASCII.
  var lowercased: String {
    switch self {
    case .age: "age"
    case .authenticate: "www-authenticate"
    case .authorization: "authorization"
    case .cacheControl: "cache-control"
    case .connection: "connection"
    case .contentEncoding: "content-encoding"
    case .contentLength: "content-length"
    case .contentLocation: "content-location"
    case .contentRange: "content-range"
    case .cookie: "cookie"
    case .date: "date"
    case .entityTag: "etag"
    case .expires: "expires"
    case .ifModifiedSince: "if-modified-since"
    case .ifNoneMatch: "if-none-match"
    case .ifRange: "if-range"
    case .lastModified: "last-modified"
    case .pragma: "pragma"
    case .proxyAuthenticate: "proxy-authenticate"
    case .proxyAuthorization: "proxy-authorization"
    case .range: "range"
    case .setCookie: "set-cookie"
    case .vary: "vary"
    }
  }

  private static let table = NameTable(allCases.map(\.lowercased))

  /// Finds the field with a name, ignoring case; `nil` if it is unknown.
  init?(_ name: Span<UInt8>) {
    guard let candidate = Self.candidate(for: name),
      Self.table.matches(name, at: Int(candidate.rawValue))
    else { return nil }
    self = candidate
  }

  /// The only field whose name has this length and this last letter. One comparison then decides, without hashing.
  private static func candidate(for name: Span<UInt8>) -> Self? {
    // A hostile cache can have a field with an empty name.
    guard name.count > 0 else { return nil }
    return switch (name.count, name[name.count - 1].asciiLowercased) {
    case (3, UInt8(ascii: "e")): .age
    case (4, UInt8(ascii: "e")): .date
    case (4, UInt8(ascii: "g")): .entityTag
    case (4, UInt8(ascii: "y")): .vary
    case (5, UInt8(ascii: "e")): .range
    case (6, UInt8(ascii: "a")): .pragma
    case (6, UInt8(ascii: "e")): .cookie
    case (7, UInt8(ascii: "s")): .expires
    case (8, UInt8(ascii: "e")): .ifRange
    case (10, UInt8(ascii: "e")): .setCookie
    case (10, UInt8(ascii: "n")): .connection
    case (13, UInt8(ascii: "d")): .lastModified
    case (13, UInt8(ascii: "e")): .contentRange
    case (13, UInt8(ascii: "h")): .ifNoneMatch
    case (13, UInt8(ascii: "l")): .cacheControl
    case (13, UInt8(ascii: "n")): .authorization
    case (14, UInt8(ascii: "h")): .contentLength
    case (16, UInt8(ascii: "e")): .authenticate
    case (16, UInt8(ascii: "g")): .contentEncoding
    case (16, UInt8(ascii: "n")): .contentLocation
    case (17, UInt8(ascii: "e")): .ifModifiedSince
    case (18, UInt8(ascii: "e")): .proxyAuthenticate
    case (19, UInt8(ascii: "n")): .proxyAuthorization
    default: nil
    }
  }
}
