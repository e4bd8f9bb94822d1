/// The description of a source.
public struct StoreDescription: Hashable, Sendable {
  /// A format from which responses are read, with its name in our JSON.
  public struct Format: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) {
      self.rawValue = rawValue
    }
  }

  /// The path of the store, as the user gave it.
  public var path: String

  /// The format.
  public var format: Format

  /// The schema version of an Apple store; `nil` if the store has none.
  public var schemaVersion: Int64?

  /// The device and inode of the file or folder that identifies the store, which its copies do not share;
  /// empty if there is none.
  public var identity: [UInt64]

  /// Whether another process had the store open when the reading began.
  public var inUse: Bool

  /// The process that had the store open when the reading began, if any and if the system reports it.
  public var holder: Int32?

  /// The names of the property lists that ``ResponseSource/rawPropertyList(_:of:)`` returns.
  public var rawPropertyLists: [String]

  /// Notes about the store as a whole, for display.
  public var notes: [String]

  /// Why the store can be read but not changed, as a clause; `nil` if it can be changed, or is not a store.
  public var readOnlyReason: String?

  /// Creates a description.
  public init(
    path: String, format: Format, schemaVersion: Int64?, identity: [UInt64] = [],
    inUse: Bool = false,
    holder: Int32? = nil, rawPropertyLists: [String] = [], notes: [String] = [],
    readOnlyReason: String? = nil
  ) {
    self.path = path
    self.format = format
    self.schemaVersion = schemaVersion
    self.identity = identity
    self.inUse = inUse
    self.holder = holder
    self.rawPropertyLists = rawPropertyLists
    self.notes = notes
    self.readOnlyReason = readOnlyReason
  }
}
