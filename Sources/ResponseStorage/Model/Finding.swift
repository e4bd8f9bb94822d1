public import Bytes

/// Something that is wrong with a store, or odd about it.
public struct Finding: Hashable, Sendable {
  /// How much a finding matters.
  public enum Severity: String, Hashable, Sendable, CaseIterable {
    /// The store breaks its own rules: something in it serves nobody, or the wrong one.
    case error

    /// The store keeps its rules, and somebody should look all the same.
    case warning

    /// It is worth knowing, and does no harm.
    case note
  }

  /// What a repair removes.
  public enum Repair: String, Hashable, Sendable, CaseIterable {
    /// Responses that lack a row in one of the tables.
    case rows

    /// Responses whose body is not there.
    case bodies

    /// Responses whose property lists cannot be decoded.
    case undecodable

    /// Files of bodies that no response names, and of responses that were never stored.
    case orphans

    /// Files that an app keeps the `ETag` of a response in, without that response; those that are missing are
    /// written.
    case sidecars

    /// What a repair removes of a store itself, which needs nothing else to be named.
    public static let ofStores = allCases.filter { $0 != .sidecars }
  }

  /// A kind of finding.
  ///
  /// It is no enumeration, so that each store can have kinds of its own beside what looks for them.
  public struct Code: Hashable, Sendable {
    /// Its name, for programs.
    public let name: String

    /// How much it matters.
    public let severity: Severity

    /// What it means, for people: a clause.
    public let meaning: String

    /// What mends it; `nil` if nothing here does.
    public let repair: Repair?

    /// Creates a kind of finding.
    public init(_ name: String, _ severity: Severity, _ meaning: String, repair: Repair? = nil) {
      self.name = name
      self.severity = severity
      self.meaning = meaning
      self.repair = repair
    }
  }

  /// What kind of finding it is.
  public var code: Code

  /// What was found, for people: a clause. It may hold names from the store, which are hostile.
  public var message: String

  /// The response in question.
  public var id: StoredResponse.ID?

  /// The URL of that response.
  public var url: ByteString?

  /// The file or folder in question.
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

/// A file of a body that no response names, as it was when it was looked at.
public struct OrphanFile: Hashable, Sendable {
  /// Its name in the folder of body files.
  public var name: String

  /// Its length.
  public var size: ByteCount

  /// When its bytes last changed, in nanoseconds since 1970.
  public var modified: Int64

  /// Creates a file.
  public init(name: String, size: ByteCount, modified: Int64) {
    self.name = name
    self.size = size
    self.modified = modified
  }
}

extension Finding.Code {
  /// What SQLite finds wrong, or a file that cannot be decoded as a whole.
  public static let damagedDatabase = Self(
    "damaged-database", .error,
    "CFNetwork discards the whole cache when it meets that, and nothing changes it until then")
}
