public import Bytes
import Files
public import HTTPCaching

/// A response that a cache has stored, with its request.
///
/// It has the parts in the ``Projection`` of the scan, which it keeps as ``decoded``. Reading any other part is a
/// mistake in the program, and a debug build stops there; so `nil` and an empty array mean only that the store does not
/// have the part. Release builds do not check.
public struct StoredResponse: Sendable {
  /// The id of a response in its store.
  public enum ID: Hashable, Comparable, Sendable {
    /// The `entry_ID` of the three tables of an Apple store.
    case row(Int64)

    /// The file name in a Foundation store, without the suffix that all of them have.
    case file(ByteString)
  }

  /// The location of a body.
  public enum BodyLocation: String, Hashable, Sendable, CaseIterable {
    /// With the response: in the database, or in the archive.
    case inline

    /// In a body file.
    case file

    /// Nowhere: the store refers to no body, or to a file that does not exist.
    case missing
  }

  /// Where the app allows the response to be stored: `URLCache.StoragePolicy`.
  public enum StoragePolicy: Hashable, Sendable {
    /// `allowed`, stored as 0.
    case allowed

    /// `allowedInMemoryOnly`, stored as 1.
    case allowedInMemoryOnly

    /// `notAllowed`, stored as 2.
    case notAllowed

    /// A number that `URLCache` does not define.
    case unknown(Int64)

    /// The name of the policy, or its raw value.
    public var name: String {
      switch self {
      case .allowed: "allowed"
      case .allowedInMemoryOnly: "memory-only"
      case .notAllowed: "not-allowed"
      case .unknown(let number): String(number)
      }
    }

    /// The names of all policies that `URLCache` defines.
    public static let names = [allowed, allowedInMemoryOnly, notAllowed].map(\.name)
  }

  /// The id in its store.
  public var id: ID

  /// The decoded parts: those that were requested, and those that the source needs for them; all parts if the response
  /// does not come from a source.
  // It takes no memory: with the flag, it fits next to the id.
  public private(set) var decoded: Projection

  /// The key, exactly as stored.
  @inlinable public var key: ByteString? {
    _read {
      requireDecoded(.key)
      yield fields.key
    }
    _modify { yield &fields.key }
  }

  /// The URL of the response, after redirects; the URL of the request if the store has no other.
  @inlinable public var url: ByteString? {
    _read {
      requireDecoded(.url)
      yield fields.url
    }
    _modify { yield &fields.url }
  }

  /// When the response was first stored under its key.
  @inlinable public var firstStored: Timestamp? {
    _read {
      requireDecoded(.firstStored)
      yield fields.firstStored
    }
    _modify { yield &fields.firstStored }
  }

  /// When the response was last stored or refreshed.
  @inlinable public var stored: Timestamp? {
    _read {
      requireDecoded(.stored)
      yield fields.stored
    }
    _modify { yield &fields.stored }
  }

  /// The status code of the response.
  @inlinable public var status: Int64? {
    _read {
      requireDecoded(.status)
      yield fields.status
    }
    _modify { yield &fields.status }
  }

  /// The media type of the response, without parameters.
  @inlinable public var mimeType: ByteString? {
    _read {
      requireDecoded(.mimeType)
      yield fields.mimeType
    }
    _modify { yield &fields.mimeType }
  }

  /// The header fields of the response, or those of them in the projection.
  @inlinable public var responseHeaders: HeaderFields? {
    _read {
      requireDecoded(.ofResponseHeaders)
      yield fields.responseHeaders
    }
    _modify { yield &fields.responseHeaders }
  }

  /// The values of the header fields that freshness depends on, if the projection needs nothing else of the header
  /// fields; ``responseHeaders`` is then `nil`.
  @inlinable public var freshnessFields: FreshnessFields? {
    _read {
      requireDecoded(.ofResponseHeaders)
      yield fields.freshnessFields
    }
    _modify { yield &fields.freshnessFields }
  }

  /// The request.
  public var request = Request()

  /// The size of the stored body, after content codings were removed; `nil` if the body is
  /// missing.
  @inlinable public var bodySize: ByteCount? {
    _read {
      requireDecoded(.body)
      yield fields.bodySize
    }
    _modify { yield &fields.bodySize }
  }

  /// The location of the stored body.
  @inlinable public var bodyLocation: BodyLocation? {
    _read {
      requireDecoded(.body)
      yield fields.bodyLocation
    }
    _modify { yield &fields.bodyLocation }
  }

  /// The name of the body file in the store; not validated.
  @inlinable public var bodyFileName: ByteString? {
    _read {
      requireDecoded(.body)
      yield fields.bodyFileName
    }
    _modify { yield &fields.bodyFileName }
  }

  /// The file of the response, if the store keeps each response in a file; `nil` also if it is not a regular
  /// file.
  @inlinable public var file: FileVersion? {
    _read {
      requireDecoded(.file)
      yield fields.file
    }
    _modify { yield &fields.file }
  }

  /// When the response was last used; `nil` if the store does not record it.
  @inlinable public var used: Timestamp? {
    _read {
      requireDecoded(.file)
      yield fields.used
    }
    _modify { yield &fields.used }
  }

  /// What the response contributes to the space in use; `nil` if the source has no space of its own.
  @inlinable public var share: EntryShare? {
    _read {
      requireDecoded(.share)
      yield fields.share
    }
    _modify { yield &fields.share }
  }

  /// The storage policy.
  @inlinable public var storagePolicy: StoragePolicy? {
    _read {
      requireDecoded(.storage)
      yield fields.storagePolicy
    }
    _modify { yield &fields.storagePolicy }
  }

  /// The cache partition, which is the top-level site that a page was loaded under.
  @inlinable public var partition: ByteString? {
    _read {
      requireDecoded(.storage)
      yield fields.partition
    }
    _modify { yield &fields.partition }
  }

  /// The kind of record in lowercase, such as `resource`, in a store that also keeps other records than responses.
  @inlinable public var type: ByteString? {
    _read {
      requireDecoded(.storage)
      yield fields.type
    }
    _modify { yield &fields.type }
  }

  /// Whether it is a response, and not another record that the store keeps. Requires ``Projection/storage``.
  public var isResponse: Bool { type.map { $0 == Self.responseType } ?? true }

  /// The ``type`` of responses.
  static let responseType: ByteString = "resource"

  /// The user info that the app attached to the response, with one property for each key.
  @inlinable public var userInfo: [Property] {
    _read {
      requireDecoded(.userInfo)
      yield fields.userInfo
    }
    _modify { yield &fields.userInfo }
  }

  /// What the URL loading system attached to the request: `Vary` records and properties.
  @inlinable public var protocolProperties: [Property] {
    _read {
      requireDecoded(.protocolProperties)
      yield fields.protocolProperties
    }
    _modify { yield &fields.protocolProperties }
  }

  /// What WebKit recorded of the response besides; `nil` for other stores.
  @inlinable public var webKitMarks: WebKitMarks? {
    _read {
      requireDecoded(.protocolProperties)
      yield fields.webKitMarks
    }
    _modify { yield &fields.webKitMarks }
  }

  /// Notes on the response, in the order in which they were found.
  @inlinable public var notes: [Note] {
    _read {
      requireDecoded([.notes, .consistency])
      yield fields.notes
    }
    _modify { yield &fields.notes }
  }

  /// The fields without checks.
  @usableFromInline struct Fields: Hashable, Sendable {
    @usableFromInline var key: ByteString?
    @usableFromInline var url: ByteString?
    @usableFromInline var firstStored: Timestamp?
    @usableFromInline var stored: Timestamp?
    @usableFromInline var status: Int64?
    @usableFromInline var mimeType: ByteString?
    @usableFromInline var responseHeaders: HeaderFields?
    @usableFromInline var freshnessFields: FreshnessFields?
    @usableFromInline var bodySize: ByteCount?
    @usableFromInline var bodyLocation: BodyLocation?
    @usableFromInline var bodyFileName: ByteString?
    @usableFromInline var file: FileVersion?
    @usableFromInline var used: Timestamp?
    @usableFromInline var share: EntryShare?
    @usableFromInline var storagePolicy: StoragePolicy?
    @usableFromInline var partition: ByteString?
    @usableFromInline var type: ByteString?
    @usableFromInline var userInfo: [Property] = []
    @usableFromInline var protocolProperties: [Property] = []
    @usableFromInline var webKitMarks: WebKitMarks?
    @usableFromInline var notes: [Note] = []

    init() {}
  }

  @usableFromInline var fields = Fields()

  /// Creates a response with an id and nothing else.
  ///
  /// - Parameter projection: The parts that can be read.
  public init(id: ID, decoding projection: Projection = .all) {
    self.id = id
    decoded = projection
    request.decoded = projection
  }

  /// Sets the decoded parts after decoding; until then, a decoder can read whatever it has found.
  mutating func finishDecoding(_ projection: Projection) {
    decoded = projection
    request.decoded = projection
  }

  /// Stops a debug build unless a part of `projection` was decoded.
  @inlinable @inline(__always)
  func requireDecoded(_ projection: @autoclosure () -> Projection) {
    assert(!decoded.isDisjoint(with: projection()), "this part was not in the projection")
  }
}

// Responses with equal parts are equal, whatever was requested.
extension StoredResponse: Hashable {
  public static func == (one: Self, other: Self) -> Bool {
    one.id == other.id && one.fields == other.fields && one.request == other.request
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(id)
    hasher.combine(fields)
    hasher.combine(request)
  }
}

extension StoredResponse.ID {
  /// The length of a short id of a file.
  private static let shortLength = 12

  /// The id as people see and type it: the number of a row, or for a file the first digits of the SHA-256 of the name, from the
  /// first letter on, so that it is no number. The beginnings of the names are the same for many entries.
  public var short: String {
    switch self {
    case .row(let row): return String(row)
    case .file(let name):
      var digest = Digest()
      digest.update(name.bytes[...])
      let digits = digest.hexadecimal.utf8.drop { $0.isASCIIDigit }.prefix(Self.shortLength)
      return String(decoding: Array(digits), as: UTF8.self)
    }
  }

  /// Whether it is the short id of a file as it was typed, for which the id of the file is yet to be found.
  public var isShort: Bool {
    guard case .file(let name) = self else { return false }
    return Self.isShort(name.bytes)
  }

  private static func isShort(_ text: [UInt8]) -> Bool {
    text.count == shortLength && !text[0].isASCIIDigit
      && text.allSatisfy { $0.isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) }
  }

  /// Parses an id: a number, the short id of a file, or the name of a file of a Foundation store, with or without its suffix, or
  /// of a WebKit cache; `nil` for any other text.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    // A number comes first: no file name of a Foundation store is one, as all of them contain a
    // full stop.
    if let row = Int64(text) {
      self = .row(row)
    } else if let name = FoundationFileName(of: ByteString(bytes)) {
      self = .file(name.id)
    } else if let name = FoundationFileName(bytes) {
      self = .file(name.id)
    } else if WebKitFiles.isID(bytes) || Self.isShort(bytes) {
      self = .file(ByteString(bytes))
    } else {
      return nil
    }
  }
}

extension StoredResponse {
  /// A key and value of a dictionary that was stored with a response.
  public struct Property: Hashable, Sendable {
    /// The key.
    public var key: ByteString

    /// The value.
    public var value: PropertyValue

    /// Creates a property.
    public init(key: ByteString, value: PropertyValue) {
      self.key = key
      self.value = value
    }
  }

  /// A value that was stored with a response, for display and comparison.
  ///
  /// A date is a `Timestamp`, and text has the operations of ``ByteString``. Values that are written back unchanged
  /// stay a `PropertyListValue`, which is exact.
  public indirect enum PropertyValue: Hashable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    case date(Timestamp)
    case data([UInt8])
    case text(ByteString)
    case array([PropertyValue])
    case dictionary([Property])

    /// A value of a class that is not decoded, with the name or number of the class.
    case opaque(String)
  }
}

/// The raw values of `URLCache.StoragePolicy`, which are the same in both kinds of store.
extension StoredResponse.StoragePolicy {
  /// Creates a policy from its raw value.
  public init(stored number: Int64) {
    switch number {
    case 0: self = .allowed
    case 1: self = .allowedInMemoryOnly
    case 2: self = .notAllowed
    default: self = .unknown(number)
    }
  }

  /// The raw value of the policy.
  public var number: Int64 {
    switch self {
    case .allowed: 0
    case .allowedInMemoryOnly: 1
    case .notAllowed: 2
    case .unknown(let number): number
    }
  }
}

extension StoredResponse {
  /// Adds a note if a text is not UTF-8.
  mutating func noteUnlessUTF8(_ text: ByteString?, _ what: @autoclosure () -> String) {
    // Nearly every text is ASCII, which is quick to check.
    guard let text, !PrintableASCII.isAll(of: text.bytes.span), text.string == nil else { return }
    notes.append(.init(.notUTF8, "\(what()) is not UTF-8"))
  }

  /// Adds notes on the texts of the response that are not UTF-8.
  mutating func noteResponseUnlessUTF8() {
    noteUnlessUTF8(url, "the URL of the response")
    noteUnlessUTF8(mimeType, "its media type")
    noteUnlessUTF8(responseHeaders, "of the response")
  }

  /// Adds notes on the texts of the request that are not UTF-8.
  mutating func noteRequestUnlessUTF8() {
    noteUnlessUTF8(request.url, "the URL of the request")
    noteUnlessUTF8(request.method, "its method")
    noteUnlessUTF8(request.headers, "of the request")
  }

  private mutating func noteUnlessUTF8(_ headers: HeaderFields?, _ whose: String) {
    guard let headers else { return }
    // Iterating over the array would retain and release each field.
    let fields = headers.fields.span
    for index in fields.indices {
      noteUnlessUTF8(fields[index].name, "the name of a header field \(whose)")
      noteUnlessUTF8(fields[index].value, "a header field \(whose)")
    }
  }
}

extension Projection {
  /// The parts to decode for notes: only decoding a part shows whether it is damaged.
  static let examinedForNotes: Self = [.key, .body, .url, .stored, .status, .mimeType, .method]
}
