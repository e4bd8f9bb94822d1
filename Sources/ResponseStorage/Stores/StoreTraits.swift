public import Bytes

/// What follows from the format of a source, so that only the folder of a kind of store knows which format it is.
public struct StoreTraits: Sendable {
  /// A part of a request that some stores do not keep with its response.
  public enum RequestPart: Hashable, Sendable {
    case method, fields, partition
  }

  /// What a store of the format is called, for people, such as `Apple cache`; `nil` for an archive, which is called by
  /// its format.
  public var words: String?

  /// Whether responses are in a database, whose file does not shrink when one is removed; otherwise each response is a
  /// file, or a part of an archive.
  public var hasDatabase = false

  /// Whether orphans count against the capacity.
  public var countsOrphans = false

  /// Whether entries with equal bodies have one file for them.
  public var sharesBodies = false

  /// Whether some entries are lists of what a page loaded: they are no responses, and no archive contains them.
  public var hasLists = false

  /// Whether it is a cache: entries are found one by one, and can be removed. Otherwise it is an archive, which is read
  /// from its beginning for whatever is wanted of it.
  public var isCache = true

  /// Whether the user info of an entry can be changed by itself.
  public var canChangeUserInfo = false

  /// Whether it is recorded when an entry was last used.
  public var recordsUse = false

  /// The parts of a request that are not stored.
  public var unstored: Set<RequestPart> = []

  /// Returns the key under which the store keeps a URL, for people, or `nil` if the URL has none; `nil` for a store that
  /// finds each entry by its own URL only.
  public var shownKey: (@Sendable (_ url: ByteString) -> ByteString?)?

  static let archive = Self(isCache: false)
}

extension StoreDescription.Format {
  /// The kind of store with this format; `nil` for an archive.
  var kind: (any StoreKind.Type)? { StoreOpening.kinds.first { $0.format == self } }

  /// What follows from the format.
  public var traits: StoreTraits { kind?.traits ?? .archive }
}

extension StoreDescription {
  /// What follows from the format.
  public var traits: StoreTraits { format.traits }

  /// The folder of the files, and the name of the database in it if there is one; `nil` for an archive, or if nothing is
  /// at the path.
  public var place: (folder: String, database: String?)? { format.kind?.place(at: path) }

  /// A file in which the app has listed the entries, with URLs and header fields; `nil` if there is none.
  public var listing: (path: String, size: ByteCount)? { format.kind?.listing(at: path) }
}
