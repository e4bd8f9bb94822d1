/// Limits on a property list, beyond which it is considered hostile.
public struct PropertyListLimits: Hashable, Sendable {
  /// The largest input, in bytes.
  public var maximumBytes: Int
  /// The deepest nesting of containers.
  public var maximumDepth: Int
  /// The maximum number of objects that one walk visits; an object counts each time it is referred to.
  public var maximumVisits: Int
  /// The maximum size in bytes of the strings and data that one walk decodes.
  public var maximumDecodedBytes: Int

  /// Creates limits.
  public init(
    // 32 MiB is also the largest value that SQLite is allowed to return. Real lists have a few
    // kilobytes and a few levels. The visits bound the time: without such a limit, Foundation's
    // parser needed more than 10 seconds for 142 bytes.
    maximumBytes: Int = 32 << 20, maximumDepth: Int = 64, maximumVisits: Int = 200_000,
    maximumDecodedBytes: Int = 64 << 20
  ) {
    self.maximumBytes = maximumBytes
    self.maximumDepth = maximumDepth
    self.maximumVisits = maximumVisits
    self.maximumDecodedBytes = maximumDecodedBytes
  }

  /// 32 MiB, 64 levels, 200,000 objects and 64 MiB decoded: far more than any cache needs.
  public static var standard: PropertyListLimits { PropertyListLimits() }
}
