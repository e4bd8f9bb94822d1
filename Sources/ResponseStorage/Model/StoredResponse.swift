public import Bytes
public import HTTPCaching

/// A response that a cache has stored, with its request.
///
/// It has the parts in the ``Projection`` of the scan; everything else is `nil` or empty, like parts that
/// the store does not have.
public struct StoredResponse: Hashable, Sendable {
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

  /// The key, exactly as stored.
  public var key: ByteString?

  /// The URL of the response, after redirects; the URL of the request if the store has no other.
  public var url: ByteString?

  /// When the response was first stored under its key.
  public var firstStored: Timestamp?

  /// When the response was last stored or refreshed.
  public var stored: Timestamp?

  /// The status code of the response.
  public var status: Int64?

  /// The media type of the response, without parameters.
  public var mimeType: ByteString?

  /// The header fields of the response, or those of them in the projection.
  public var responseHeaders: HeaderFields?

  /// The values of the header fields that freshness depends on, if the projection needs nothing else of the header
  /// fields; ``responseHeaders`` is then `nil`.
  public var freshnessFields: FreshnessFields?

  /// The request.
  public var request = Request()

  /// The size of the stored body, after content codings were removed; `nil` if the body is
  /// missing.
  public var bodySize: ByteCount?

  /// The location of the stored body.
  public var bodyLocation: BodyLocation?

  /// The name of the body file in the store; not validated.
  public var bodyFileName: ByteString?

  /// The file of the response, if the store keeps each response in a file; `nil` also if it is not a regular
  /// file.
  public var file: FileVersion?

  /// Whether `URLCache` ignores the response, and so neither counts nor removes it; then only its id
  /// should select it for removal.
  public var isOrphan = false

  /// The storage policy.
  public var storagePolicy: StoragePolicy?

  /// The cache partition, which is the top-level site that a page was loaded under.
  public var partition: ByteString?

  /// The user info that the app attached to the response, with one property for each key.
  public var userInfo: [Property] = []

  /// What the URL loading system attached to the request: `Vary` records and properties.
  public var protocolProperties: [Property] = []

  /// Notes on the response, in the order in which they were found.
  public var notes: [Note] = []

  /// Creates a response with an id and nothing else.
  public init(id: ID) {
    self.id = id
  }
}

extension StoredResponse {
  /// The request that a response answers, as far as it is known.
  public struct Request: Hashable, Sendable {
    /// The method, for example `GET`.
    public var method: ByteString?

    /// The requested URL.
    public var url: ByteString?

    /// The header fields of the request.
    public var headers: HeaderFields?

    /// The raw value of `NSURLRequest.CachePolicy` on Apple platforms.
    public var cachePolicy: Int64?

    /// The time-out interval, in seconds.
    public var timeoutSeconds: Double?

    /// The body, with all parts joined.
    public var body: [UInt8]?

    /// Creates an empty request.
    public init() {}
  }

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

  /// A note on a response, which is listed nevertheless.
  public struct Note: Hashable, Sendable {
    /// The kind of note, for programs.
    public enum Code: String, Hashable, Sendable, CaseIterable {
      case noResponseRow = "no-response-row"
      case noBlobRow = "no-blob-row"
      case noBodyRow = "no-body-row"
      case undecodable
      case tooLarge = "too-large"
      case unknownVersion = "unknown-version"
      case wrongType = "wrong-type"
      case notUTF8 = "not-utf-8"
      case missingBodyFile = "missing-body-file"
      case badBodyFileName = "bad-body-file-name"
      case notARegularFile = "not-a-regular-file"
      case unreadableBodyFile = "unreadable-body-file"
      case badTime = "bad-time"
      case badFileName = "bad-file-name"
      case duplicateKey = "duplicate-key"
      case emptyFile = "empty-file"
      case fatalToFoundation = "fatal-to-foundation"
      case futureDated = "future-dated"
      case temporaryFile = "temporary-file"
      case unreadableFile = "unreadable-file"
      case wrongHash = "wrong-hash"
    }

    /// The kind of note, for programs.
    public var code: Code

    /// The note for display: a clause without text from the cache.
    public var message: String

    /// Creates a note.
    public init(_ code: Code, _ message: String) {
      self.code = code
      self.message = message
    }
  }
}
