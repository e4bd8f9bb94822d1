public import Bytes
public import HTTPCaching

/// One response that a cache has stored, with the request that it answers.
///
/// It holds what the ``Projection`` of a scan asked for; everything else is `nil` or empty, just
/// as what the store does not know.
public struct StoredResponse: Hashable, Sendable {
  /// What a store calls a response by.
  public enum ID: Hashable, Comparable, Sendable {
    /// The `entry_ID` of the three tables of an Apple store.
    case row(Int64)

    /// The name of a file of a Foundation store, without the suffix that all of them have.
    case file(ByteString)
  }

  /// Where the body of a response is.
  public enum BodyLocation: String, Hashable, Sendable, CaseIterable {
    /// With the response: in the database, or in the archive.
    case inline

    /// In a file of its own.
    case file

    /// Nowhere: the store names none, or names a file that is not there.
    case missing
  }

  /// How long-lived the application let the copy be: `URLCache.StoragePolicy`.
  public enum StoragePolicy: Hashable, Sendable {
    /// `allowed`, stored as 0.
    case allowed

    /// `allowedInMemoryOnly`, stored as 1.
    case allowedInMemoryOnly

    /// `notAllowed`, stored as 2.
    case notAllowed

    /// A number that `URLCache` does not define.
    case unknown(Int64)

    /// The word for the policy, or its number.
    public var name: String {
      switch self {
      case .allowed: "allowed"
      case .allowedInMemoryOnly: "memory-only"
      case .notAllowed: "not-allowed"
      case .unknown(let number): String(number)
      }
    }

    /// The words of all policies that `URLCache` defines.
    public static let names = [allowed, allowedInMemoryOnly, notAllowed].map(\.name)
  }

  /// What the store calls the response by.
  public var id: ID

  /// What the response is looked up by, exactly as stored.
  public var key: ByteString?

  /// The URL of the response, after redirects; that of the request if the store has no other.
  public var url: ByteString?

  /// When the response was first stored under its key.
  public var firstStored: Timestamp?

  /// When the response was last stored or refreshed.
  public var stored: Timestamp?

  /// The status code of the response.
  public var status: Int64?

  /// The media type of the response, without parameters.
  public var mimeType: ByteString?

  /// The header fields of the response; only some of them if no more were asked for.
  public var responseHeaders: HeaderFields?

  /// The header fields that freshness depends on, if all that was asked for of them is what they say; then
  /// ``responseHeaders`` is `nil`.
  public var freshnessFields: FreshnessFields?

  /// The request.
  public var request = Request()

  /// The number of bytes of the stored body, after content codings were removed; `nil` if it is
  /// missing.
  public var bodySize: ByteCount?

  /// Where the stored body is.
  public var bodyLocation: BodyLocation?

  /// The name of the file that should hold the body, as the store gives it; not checked.
  public var bodyFileName: ByteString?

  /// The file that holds the response and nothing else, if the store keeps each in one; `nil` also if what
  /// is there is no regular file.
  public var file: FileVersion?

  /// Whether `URLCache` does not see the response, and so neither counts nor removes it; then only
  /// its id should select it for removal.
  public var isOrphan = false

  /// The storage policy.
  public var storagePolicy: StoragePolicy?

  /// The cache partition, which is the top-level site that a page was loaded under.
  public var partition: ByteString?

  /// What the application attached to the response, one entry for each key.
  public var userInfo: [Property] = []

  /// What the URL loading system attached to the request: `Vary` records and properties.
  public var protocolProperties: [Property] = []

  /// What is odd about the response, in the order in which it was found.
  public var notes: [Note] = []

  /// Creates a response of which nothing is known but what it is called by.
  public init(id: ID) {
    self.id = id
  }
}

extension StoredResponse {
  /// The request that a response answers, as far as it is known.
  public struct Request: Hashable, Sendable {
    /// The method, for example `GET`.
    public var method: ByteString?

    /// The URL that was asked for.
    public var url: ByteString?

    /// The header fields of the request.
    public var headers: HeaderFields?

    /// The raw value of `NSURLRequest.CachePolicy` on Apple platforms.
    public var cachePolicy: Int64?

    /// After how many seconds the request was to time out.
    public var timeoutSeconds: Double?

    /// The body, all its parts joined.
    public var body: [UInt8]?

    /// Creates a request of which nothing is known.
    public init() {}
  }

  /// One value of a dictionary that was stored beside a response.
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

  /// A value that was stored beside a response, as it is shown and compared.
  ///
  /// A date is a moment here, and text has the operations of ``ByteString``; what is written back without a change stays a
  /// `PropertyListValue`, which is exact.
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

    /// A value of a class that is not decoded, by its name or its number.
    case opaque(String)
  }

  /// Something that is odd about a response; it never keeps the response from being listed.
  public struct Note: Hashable, Sendable {
    /// What is odd, for programs.
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

    /// What is odd, for programs.
    public var code: Code

    /// What is odd, for people: a clause without text from the cache.
    public var message: String

    /// Creates a note.
    public init(_ code: Code, _ message: String) {
      self.code = code
      self.message = message
    }
  }
}
