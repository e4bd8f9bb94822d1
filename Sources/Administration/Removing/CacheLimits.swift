public import Bytes
import ResponseStorage
import SQLite

/// The limits of a cache, and the order in which entries are removed when it exceeds them.
///
/// For the limit on what one command may remove, see ``RemovalCap``.
public struct CacheLimits: Hashable, Sendable {
  /// An order of removal; entries with an unknown value come last.
  public enum Order: String, Hashable, Sendable, CaseIterable {
    /// Entries stored longest ago first.
    case oldest
    /// The largest bodies first.
    case largest
    /// Stale entries first, then entries without a lifetime, then fresh entries.
    case staleFirst = "stale-first"
    /// Entries not used for the longest time first; only for stores that record use.
    case leastRecentlyUsed = "least-recently-used"
  }

  /// The maximum space in use, in bytes: see ``RemovalPlan/inUse``.
  public var bytes: ByteCount?
  /// The maximum number of entries.
  public var entries: Int64?
  /// The maximum age of an entry, in seconds, by ``Selection/ageBasis``.
  public var age: Double?
  /// The maximum size of a body, in bytes.
  public var entryBytes: ByteCount?
  /// The number of bytes to free on the file system; 0 if enough is free.
  public var bytesToFree: ByteCount?
  /// The low mark: what an exceeded limit of size or number is reduced to, in percent of the limit.
  public var lowPercent = 100.0
  /// Whether the age and size of entries only matter if there are too many entries or bytes.
  public var onlyIfOver = false
  /// Whether to remove what is possible even if the limits cannot be met.
  public var isBestEffort = false
  /// The order of removal; empty for least recent use where the store records it, and else the oldest first.
  public var order: [Order] = []

  /// Creates limits that allow everything.
  public init() {}

  /// Whether no limit is set.
  public var isEmpty: Bool {
    bytes == nil && entries == nil && age == nil && entryBytes == nil && bytesToFree == nil
  }

  /// Whether the limits are about space, which takes a look at more of each entry than its age.
  var measuresSpace: Bool { bytes != nil || bytesToFree != nil }

  /// Returns the limits of size and number that a cache with this space in use and this many entries exceeds.
  func unmet(bytes used: ByteCount, entries count: Int64) -> [UnmetLimit] {
    var unmet: [UnmetLimit] = []
    if let bytes, used > bytes {
      unmet.append(UnmetLimit(kind: .bytes, limit: bytes.bytes, reachable: used.bytes))
    }
    if let entries, count > entries {
      unmet.append(UnmetLimit(kind: .entries, limit: entries, reachable: count))
    }
    return unmet
  }

  /// The fields to decode of each entry that may be removed.
  func projection(ageBasis: AgeBasis) -> Projection {
    var result: Projection = age == nil ? [] : ageBasis.projection
    if measuresSpace { result.insert(.share) }
    if order.contains(.staleFirst) { result.formUnion(ResponseFreshness.projection) }
    return result
  }

  /// Returns the limits with an order for a store.
  ///
  /// - Throws: ``StoreError`` if the store does not record what the order needs.
  func ordered(for store: StoreDescription) throws(StoreError) -> CacheLimits {
    let recordsUse = store.traits.recordsUse
    if order.contains(.leastRecentlyUsed), !recordsUse {
      throw StoreError(
        .inapplicable, at: store.path, because: "it does not record when its entries were used")
    }
    var limits = self
    // As CFNetwork does it, which evicts by `time_stamp`.
    if order.isEmpty { limits.order = [recordsUse ? .leastRecentlyUsed : .oldest] }
    return limits
  }

  /// Returns the size to reduce a cache to once it exceeds a size limit.
  public func low(_ limit: ByteCount) -> ByteCount { ByteCount(low(limit.bytes)) }

  /// Returns the number of entries to reduce a cache to once it exceeds a limit.
  public func low(_ limit: Int64) -> Int64 {
    // `Double` rounds the largest integers up, even beyond `Int64`; then the limit itself is the low mark.
    Int64(exactly: (Double(limit) * min(lowPercent, 100) / 100).rounded(.down)) ?? limit
  }

  /// Returns the place of an entry in the order of removal.
  func place(of entry: RemovalPlan.Entry) -> RemovalPlace {
    // The id makes the order total: a run removes the same entries as a dry run before it.
    var place = RemovalPlace(values: .zero, id: entry.version.id)
    var count = 0
    for (index, one) in order.enumerated() where !order[..<index].contains(one) {
      place.values[count] = Self.value(of: entry, in: one)
      count += 1
    }
    if !order.contains(.oldest) { place.values[count] = Self.value(of: entry, in: .oldest) }
    return place
  }

  private static func value(of entry: RemovalPlan.Entry, in order: Order) -> Double {
    switch order {
    case .largest: -Double(entry.size?.bytes ?? 0)
    case .staleFirst: Double(rank(of: entry.state))
    case .leastRecentlyUsed: entry.used?.secondsSince1970 ?? .infinity
    // An entry of unknown age may be as young as any, so it goes last.
    case .oldest: entry.version.stored?.secondsSince1970 ?? .infinity
    }
  }

  private static func rank(of state: ResponseFreshness.State?) -> Int {
    switch state {
    case .stale: 0
    case .noLifetime: 1
    case .fresh: 2
    case nil: 3
    }
  }
}

/// A limit of a cache, with its origin.
public struct AppliedLimit: Hashable, Sendable {
  /// The setting, which is also the name of the option.
  public let setting: Setting
  /// The value, in words.
  public let value: String
  /// Where it is configured; `nil` if the command line sets it.
  public let origin: Configuration.Value.Origin?
  /// The name of the cache in whose section it is; `nil` if it is not in such a section.
  public let section: String?

  /// Creates a limit that the command line sets.
  public init(option setting: Setting, _ value: String) {
    (self.setting, self.value, origin, section) = (setting, value, nil, nil)
  }

  /// Creates a limit that a configuration sets.
  ///
  /// - Parameter name: The name of the cache, if it has one.
  public init(
    _ setting: Setting, _ value: String, by configuration: Configuration, forCache name: String?
  ) {
    let configured = configuration.value(of: setting, forCache: name)
    (self.setting, self.value, origin) = (setting, value, configured?.origin)
    section = configured == configuration.value(of: setting, forCache: nil) ? nil : name
  }

  /// Why entries are removed that exceed the limit.
  public var reason: RemovalPlan.Reason? {
    switch setting {
    case .maxAge: .tooOld
    case .maxEntrySize: .tooLarge
    case .maxEntries: .overEntries
    case .maxSize, .capacity: .overSize
    case .minFree: .minimumFree
    default: nil
    }
  }
}

/// The place of an entry in the order of removal: the entry with the lowest one is removed first.
struct RemovalPlace: Comparable {
  /// What decides, the most important value first; the rest are 0.
  fileprivate(set) var values: SIMD4<Double>
  /// The id of the entry, which decides if all values are equal.
  let id: StoredResponse.ID

  static func < (place: Self, other: Self) -> Bool {
    for index in 0..<4 where place.values[index] != other.values[index] {
      return place.values[index] < other.values[index]
    }
    return place.id < other.id
  }

  /// The number of ``scratchKeys``.
  static let keyCount = 5

  /// The place as keys.
  var scratchKeys: [Scratch.Key] {
    (0..<4).map { .real(values[$0]) } + [id.scratchKey]
  }
}

/// Capacities that many apps set, named by their memory and disk sizes in MiB.
///
/// Only the disk capacity matters for a cache on disk. Source: `configuration.md`, "Presets".
public enum CapacityPreset: String, Hashable, Sendable, CaseIterable {
  /// 4 MiB in memory and 20 MiB on disk, as in Apple's examples.
  case apple4Disk20 = "apple-4-20"
  /// 4 MiB in memory and 100 MiB on disk.
  case apple4Disk100 = "apple-4-100"
  /// 2 MiB in memory and 100 MiB on disk.
  case apple2Disk100 = "apple-2-100"
  /// 512 kB in memory and 10 MB on disk, in units of 1,000: the default of old iOS versions.
  case appleOld = "apple-512k-10"
  /// 4 MiB in memory and 20 MiB on disk: the default of swift-corelibs-foundation.
  case foundation4Disk20 = "foundation-4-20"

  /// The disk capacity, in bytes.
  public var diskBytes: ByteCount {
    switch self {
    case .apple4Disk20, .foundation4Disk20: ByteCount(20 << 20)
    case .apple4Disk100, .apple2Disk100: ByteCount(100 << 20)
    case .appleOld: ByteCount(10_000_000)
    }
  }
}

/// The maximum that one command may remove, set by `--max-delete`; a plan over it removes nothing.
///
/// For the limits of a cache, see ``CacheLimits``.
public enum RemovalCap: Hashable, Sendable {
  /// A number of entries.
  case entries(Int64)
  /// A share of all entries, in percent.
  case percent(Double)

  /// Whether the number of removals exceeds the cap.
  public func isExceeded(by removals: Int, of stored: Int64) -> Bool {
    switch self {
    // The cap itself is allowed: `--max-delete 0` permits nothing, and `--max-delete 10` ten.
    case .entries(let count): Int64(removals) > count
    // Multiplied and not divided: an empty cache has no share, and division would make it NaN,
    // which exceeds nothing.
    case .percent(let percent): Double(removals) * 100 > Double(stored) * percent
    }
  }
}
