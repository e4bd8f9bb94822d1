public import Bytes

/// What a search for stores found.
public struct Discovery: Hashable, Sendable {
  /// The stores, in the order of the bytes of their paths.
  public var stores: [FoundStore] = []

  /// What could not be looked into, and may hold stores, in the order of the bytes of the paths.
  public var unreadable: [UnreadablePlace] = []

  /// The number of folders that were not looked into as they lie too deep.
  public var foldersTooDeep = 0

  /// Creates what a search without result found.
  public init() {}

  /// The number of entries of all stores, as far as they are known.
  public var entries: Int64 {
    stores.reduce(0) { $0 + ($1.entries ?? 0) }
  }

  /// What all stores take up, as far as it is known.
  public var footprintBytes: ByteCount {
    stores.reduce(0) { $0 + ($1.footprintBytes ?? 0) }
  }

  /// The same with the stores that take up most first.
  public var largestFirst: Discovery {
    var result = self
    result.stores.sort { first, second in
      let (size, other) = (first.footprintBytes ?? 0, second.footprintBytes ?? 0)
      return size == other ? ByteString(first.path) < ByteString(second.path) : size > other
    }
    return result
  }
}

/// A file or folder that could not be looked into.
public struct UnreadablePlace: Hashable, Sendable {
  /// The path; bytes that are not UTF-8 are replaced in it.
  public var path: String

  /// Why not, as one clause without a final full stop.
  public var reason: String

  /// Creates a place.
  public init(path: String, reason: String) {
    self.path = path
    self.reason = reason
  }
}

/// A store that was found, and what is known of it as a whole.
public struct FoundStore: Hashable, Sendable {
  /// Who has a store open.
  public enum Use: Hashable, Sendable {
    /// It cannot be told: stores of the format are opened without a lock.
    case unknown
    /// No process, as far as locks tell.
    case none
    /// A process, by its number if the system tells.
    case process(Int32?)
  }

  /// The path, by which the store can be opened.
  public var path: String

  /// The format.
  public var format: StoreDescription.Format

  /// The schema version of an Apple store; `nil` if the store names none.
  public var schemaVersion: Int64?

  /// The number of entries; `nil` if the store is too damaged to count them.
  public var entries: Int64?

  /// The lengths of all its files; `nil` if the store is too damaged to tell.
  public var footprintBytes: ByteCount?

  /// When the newest of its entries was stored.
  public var newestStored: Timestamp?

  /// Who has it open.
  public var use: Use

  /// What is odd about it, for people.
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
