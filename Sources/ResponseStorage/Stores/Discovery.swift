public import Bytes

/// The result of a search for stores.
public struct Discovery: Hashable, Sendable {
  /// The stores, sorted by the bytes of their paths.
  public var stores: [FoundStore] = []

  /// Files and folders that could not be read and may contain stores, sorted by the bytes of their paths.
  public var unreadable: [UnreadablePlace] = []

  /// The number of folders that were skipped because of their depth.
  public var foldersTooDeep = 0

  /// Creates the result of a search that found nothing.
  public init() {}

  /// The number of entries of all stores, as far as it is known.
  public var entries: Int64 {
    stores.reduce(0) { $0 + ($1.entries ?? 0) }
  }

  /// The size on disk of all stores, as far as it is known.
  public var footprintBytes: ByteCount {
    stores.reduce(0) { $0 + ($1.footprintBytes ?? 0) }
  }

  /// The same result with the largest stores first.
  public var largestFirst: Discovery {
    var result = self
    result.stores.sort { first, second in
      let (size, other) = (first.footprintBytes ?? 0, second.footprintBytes ?? 0)
      return size == other ? ByteString(first.path) < ByteString(second.path) : size > other
    }
    return result
  }
}

/// A file or folder that could not be read.
public struct UnreadablePlace: Hashable, Sendable {
  /// The path; bytes that are not UTF-8 are replaced in it.
  public var path: String

  /// The reason, as one clause without a final full stop.
  public var reason: String

  /// Creates a place.
  public init(path: String, reason: String) {
    self.path = path
    self.reason = reason
  }
}

/// A store that was found, with its properties as a whole.
public struct FoundStore: Hashable, Sendable {
  /// Whether a process has a store open.
  public enum Use: Hashable, Sendable {
    /// Unknown, as stores of the format are opened without a lock.
    case unknown
    /// No process, as far as locks tell.
    case none
    /// A process, with its id if the system reports it.
    case process(Int32?)
  }

  /// The path with which the store can be opened.
  public var path: String

  /// The format.
  public var format: StoreDescription.Format

  /// The schema version of an Apple store; `nil` if the store has none.
  public var schemaVersion: Int64?

  /// The number of entries; `nil` if the store is too damaged to count them.
  public var entries: Int64?

  /// The total length of all its files; `nil` if the store is too damaged to measure.
  public var footprintBytes: ByteCount?

  /// When the newest of its entries was stored.
  public var newestStored: Timestamp?

  /// Whether a process has it open.
  public var use: Use

  /// Notes about the store, for display.
  public var notes: [String]

  /// Creates a store.
  public init(
    path: String, format: StoreDescription.Format, schemaVersion: Int64? = nil,
    entries: Int64? = nil, footprintBytes: ByteCount? = nil, newestStored: Timestamp? = nil,
    use: Use = .unknown, notes: [String] = []
  ) {
    self.path = path
    self.format = format
    self.schemaVersion = schemaVersion
    self.entries = entries
    self.footprintBytes = footprintBytes
    self.newestStored = newestStored
    self.use = use
    self.notes = notes
  }
}
