/// What a source is.
public struct StoreDescription: Hashable, Sendable {
  /// A format that responses are read from, by its name in our JSON.
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

  /// The schema version of an Apple store; `nil` if the store names none.
  public var schemaVersion: Int64?

  /// The device, and the number on it, of the file or folder that makes the store itself and no copy;
  /// empty if there is none.
  public var identity: [UInt64]

  /// Whether another process had the store open when the reading began.
  public var inUse: Bool

  /// The process that had the store open when the reading began, if there was one and the system
  /// tells.
  public var holder: Int32?

  /// The names by which ``ResponseSource/rawPropertyList(_:of:)`` knows the parts of a response.
  public var rawPropertyLists: [String]

  /// What is odd about the store as a whole, for people.
  public var notes: [String]

  /// Why the store is read and never changed, as a clause; `nil` if it can be changed, or is no store.
  public var obstacle: String?

  /// Creates a description.
  public init(
    path: String, format: Format, schemaVersion: Int64?, identity: [UInt64] = [],
    inUse: Bool = false,
    holder: Int32? = nil, rawPropertyLists: [String] = [], notes: [String] = [],
    obstacle: String? = nil
  ) {
    self.path = path
    self.format = format
    self.schemaVersion = schemaVersion
    self.identity = identity
    self.inUse = inUse
    self.holder = holder
    self.rawPropertyLists = rawPropertyLists
    self.notes = notes
    self.obstacle = obstacle
  }
}
