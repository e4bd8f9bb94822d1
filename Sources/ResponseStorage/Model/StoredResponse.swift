public import Bytes
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
    @usableFromInline var share: EntryShare?
    @usableFromInline var storagePolicy: StoragePolicy?
    @usableFromInline var partition: ByteString?
    @usableFromInline var userInfo: [Property] = []
    @usableFromInline var protocolProperties: [Property] = []
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
