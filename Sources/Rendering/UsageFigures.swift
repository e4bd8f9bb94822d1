public import ResponseStorage

/// What a store holds and what it takes up.
public struct UsageFigures: Hashable, Sendable {
  /// The responses that have something in common.
  public struct Group: Hashable, Sendable {
    /// What they have in common; `nil` for those of which it is not known.
    public var key: ByteString?

    /// The number of responses.
    public var entries: Int64

    /// The sizes of their bodies.
    public var bytes: Int64

    /// Creates a group.
    public init(key: ByteString?, entries: Int64, bytes: Int64) {
      self.key = key
      self.entries = entries
      self.bytes = bytes
    }
  }

  /// The store.
  public var store: StoreDescription

  /// The number of responses.
  public var entries: Int64

  /// The sizes of their bodies.
  public var bodyBytes: Int64

  /// What the store takes up on disk.
  public var footprint: Footprint

  /// What the store may take up on disk, if that is known.
  public var capacityBytes: Int64?

  /// The responses by what they have in common, in the order in which they are shown.
  public var groups: [Group]

  /// What the groups have in common, for example `host`; `nil` if there are no groups.
  public var groupTitle: String?

  /// Creates figures.
  public init(
    store: StoreDescription, entries: Int64, bodyBytes: Int64, footprint: Footprint,
    capacityBytes: Int64? = nil, groups: [Group] = [], groupTitle: String? = nil
  ) {
    self.store = store
    self.entries = entries
    self.bodyBytes = bodyBytes
    self.footprint = footprint
    self.capacityBytes = capacityBytes
    self.groups = groups
    self.groupTitle = groupTitle
  }
}
