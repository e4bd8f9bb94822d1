/// How much of a property list is read before it counts as hostile.
public struct PropertyListLimits: Hashable, Sendable {
  /// The largest input, in bytes.
  public var maximumBytes: Int
  /// The deepest nesting of containers.
  public var maximumDepth: Int
  /// The most objects that one walk visits; an object counts each time that it is referred to.
  public var maximumVisits: Int
  /// The most bytes that the strings and data of one walk decode to.
  public var maximumDecodedBytes: Int

  /// Creates limits.
  public init(
    maximumBytes: Int = 32 << 20, maximumDepth: Int = 64, maximumVisits: Int = 200_000,
    maximumDecodedBytes: Int = 64 << 20
  ) {
    self.maximumBytes = maximumBytes
    self.maximumDepth = maximumDepth
    self.maximumVisits = maximumVisits
    self.maximumDecodedBytes = maximumDecodedBytes
  }

  /// Far more than a cache ever holds: 32 MiB, 64 levels, 200,000 objects, 64 MiB decoded.
  public static var standard: PropertyListLimits { PropertyListLimits() }
}
