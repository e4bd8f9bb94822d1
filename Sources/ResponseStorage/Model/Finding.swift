public import Bytes

/// An error, warning or note about a store.
public struct Finding: Hashable, Sendable {
  /// The severity of a finding.
  public enum Severity: String, Hashable, Sendable, CaseIterable {
    /// The store breaks its own rules: some data is useless, or served for the wrong request.
    case error

    /// The store follows its rules, but deserves attention.
    case warning

    /// Harmless, but worth knowing.
    case note
  }

  /// What a repair removes.
  public enum Repair: String, Hashable, Sendable, CaseIterable {
    /// Responses that lack a row in one of the tables.
    case rows

    /// Responses whose body is missing.
    case bodies

    /// Responses whose property lists cannot be decoded.
    case undecodable

    /// Orphans, and files of responses that were never stored.
    case orphans

    /// Files in which an app keeps the `ETag` of a response that does not exist any more. Missing files are
    /// written.
    case sidecars
  }

  /// A kind of finding.
  ///
  /// It is not an enumeration, so that each kind of store and each check can define its own codes.
  public struct Code: Hashable, Sendable {
    /// The name, for programs.
    public let name: String

    /// The severity.
    public let severity: Severity

    /// The meaning, for display: a clause.
    public let meaning: String

    /// The repair that removes it; `nil` if there is none.
    public let repair: Repair?

    /// Creates a kind of finding.
    public init(_ name: String, _ severity: Severity, _ meaning: String, repair: Repair? = nil) {
      self.name = name
      self.severity = severity
      self.meaning = meaning
      self.repair = repair
    }

    /// The same kind, where a repair removes nothing.
    public var withoutRepair: Self { Self(name, severity, meaning) }
  }

  /// The kind of finding.
  public var code: Code

  /// What was found, for display: a clause. It may contain names from the store, which may be hostile.
  public var message: String

  /// The response with the finding.
  public var id: StoredResponse.ID?

  /// The URL of that response.
  public var url: ByteString?

  /// The file or folder with the finding.
  public var path: ByteString?

  /// The file that a repair removes.
  public var orphan: OrphanFile?

  /// Creates a finding.
  public init(
    _ code: Code, _ message: String, id: StoredResponse.ID? = nil, url: ByteString? = nil,
    path: ByteString? = nil, orphan: OrphanFile? = nil
  ) {
    self.code = code
    self.message = message
    self.id = id
    self.url = url
    self.path = path
    self.orphan = orphan
  }
}

/// The state of an orphan when it was read.
public struct OrphanFile: Hashable, Sendable {
  /// The name in the folder of body files.
  public var name: String

  /// The length.
  public var size: ByteCount

  /// When the bytes last changed, in nanoseconds since 1970.
  public var modified: Int64

  /// Creates an orphan.
  public init(name: String, size: ByteCount, modified: Int64) {
    self.name = name
    self.size = size
    self.modified = modified
  }
}

extension Finding.Code {
  /// Damage that SQLite finds, or a file that cannot be decoded as a whole.
  // On SQLITE_CORRUPT, CFNetwork truncates the database and creates an empty one.
  public static let damagedDatabase = Self(
    "damaged-database", .error,
    "CFNetwork discards the whole cache when it notices this; urlcache-admin does not change it")
}
