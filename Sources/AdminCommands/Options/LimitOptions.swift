import Administration
import ArgumentParser
import Bytes
import Rendering

/// The options for the limits of a cache.
struct LimitOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The maximum space in use: the entries with their body files.", valueName: "size"),
    transform: WrittenSize.init(parsing:))
  var maxSize: WrittenSize?

  @Option(
    help: ArgumentHelp(
      "The disk capacity that the app set; the size limit if '--max-size' is not given.",
      valueName: "size"),
    transform: WrittenSize.init(parsing:))
  var capacity: WrittenSize?

  @Option(help: ArgumentHelp("The maximum number of entries.", valueName: "number"))
  var maxEntries: Int64?

  @Option(
    help: ArgumentHelp("The maximum age of an entry.", valueName: "duration"),
    transform: parseDuration)
  var maxAge: Double?

  @Option(
    help: ArgumentHelp("The maximum size of a body.", valueName: "size"),
    transform: WrittenSize.init(parsing:))
  var maxEntrySize: WrittenSize?

  @Option(
    help: ArgumentHelp(
      "The free space to keep on the file system.", valueName: "size|percent"),
    transform: WrittenRoom.init(parsing:))
  var minFree: WrittenRoom?

  @Option(
    help: ArgumentHelp(
      "When a size or number limit is exceeded, reduce the cache to this percentage of the limit.",
      valueName: "percent"),
    transform: parsePercent)
  var low: Double?

  /// The values of the option for a cache within its limits.
  enum Condition: EnumerableFlag {
    case onlyIfOver, noOnlyIfOver

    static func help(for condition: Condition) -> ArgumentHelp? {
      switch condition {
      case .onlyIfOver: "Do nothing unless a size or number limit is exceeded."
      case .noOnlyIfOver: "Override 'only-if-over = true' in the configuration."
      }
    }
  }

  @Flag(exclusivity: .chooseLast) var condition: Condition?

  @Option(
    help: ArgumentHelp(
      "Which entries to remove first: oldest (the default, except for WebKit), largest,"
        + " stale-first, least-recently-used (only WebKit); add more to break ties.",
      valueName: "order"),
    completion: .list(CacheLimits.Order.allCases.map(\.rawValue)),
    transform: parseOrder)
  var order: [CacheLimits.Order]?

  /// The limits that the command line sets.
  private(set) var given: Set<Setting> = []

  func validate() throws {
    if let maxEntries, maxEntries < 0 {
      throw ValidationError("'--max-entries' cannot be less than zero.")
    }
    if let low, low > 100 { throw ValidationError("'--low' cannot be more than 100%.") }
  }

  /// Fills in options that the command line does not set.
  mutating func fill(from settings: CacheSettings) {
    given = Set(values.map(\.setting))
    maxSize = maxSize ?? settings.maxSize.map { WrittenSize($0) }
    capacity = capacity ?? settings.capacity.map { WrittenSize($0) }
    maxEntries = maxEntries ?? settings.maxEntries
    maxAge = maxAge ?? settings.maxAge
    maxEntrySize = maxEntrySize ?? settings.maxEntrySize.map { WrittenSize($0) }
    minFree = minFree ?? settings.minFree.map { WrittenRoom(room: $0, note: nil) }
    low = low ?? settings.low
    condition = condition ?? settings.onlyIfOver.map { $0 ? .onlyIfOver : .noOnlyIfOver }
    order = order ?? settings.order
  }

  /// The limits and their values, in words.
  private var values: [(setting: Setting, value: String)] {
    let values: [(Setting, String?)] = [
      (.maxAge, maxAge.map { DurationText.text(seconds: $0) }),
      (.maxEntrySize, maxEntrySize.map { ByteSizeText.text($0.bytes) }),
      (.maxEntries, maxEntries.map { QuantityWords.grouped($0) }),
      maxSize == nil
        ? (.capacity, capacity.map { ByteSizeText.text($0.bytes) })
        : (.maxSize, maxSize.map { ByteSizeText.text($0.bytes) }),
      (.minFree, minFree.map { $0.room.words }),
    ]
    return values.compactMap { setting, value in value.map { (setting, $0) } }
  }

  /// Whether no limit is given.
  var isEmpty: Bool { values.isEmpty }

  /// Returns the limits with their origins.
  ///
  /// - Parameter name: The name of the cache in the configuration.
  func applied(toCache name: String?, by configuration: Configuration) -> [AppliedLimit] {
    values.map { setting, value in
      given.contains(setting)
        ? AppliedLimit(option: setting, value)
        : AppliedLimit(setting, value, by: configuration, forCache: name)
    }
  }

  // A limit that is meant for this program goes before one that describes the app.
  /// The maximum space in use, in bytes.
  var bytes: ByteCount? { (maxSize ?? capacity)?.bytes }

  /// Notes for the user: the sizes that units stand for.
  var notes: [String] {
    [maxSize?.note, capacity?.note, maxEntrySize?.note, minFree?.note].compactMap { $0 }
  }

  /// The limits that do not depend on the free space of the file system.
  var ofSizeAndNumber: CacheLimits { limits(available: 0, total: 0) }

  /// Whether space inside the database has to be reclaimed after a plan that enforces these limits.
  func reclaimsSpace(after plan: RemovalPlan) -> Bool {
    var limits = ofSizeAndNumber
    limits.bytesToFree = plan.lackedBytes
    return plan.needsReclaiming(for: limits)
  }

  /// Returns the limits for a store on a file system with this much space.
  func limits(available: ByteCount, total: ByteCount) -> CacheLimits {
    var limits = CacheLimits()
    limits.bytes = bytes
    limits.entries = maxEntries
    limits.age = maxAge
    limits.entryBytes = maxEntrySize?.bytes
    limits.bytesToFree = minFree.map { max(0, $0.room.bytes(of: total) - available) }
    limits.lowPercent = low ?? limits.lowPercent
    limits.onlyIfOver = condition.map { $0 == .onlyIfOver } ?? limits.onlyIfOver
    limits.order = order ?? limits.order
    return limits
  }
}

/// An amount of space as it was written: `10G` or `10%`.
struct WrittenRoom {
  let room: Room
  /// A note for the user, as of a ``WrittenSize``.
  let note: String?
}

extension WrittenRoom {
  /// Parses an amount of space.
  init(parsing text: String) throws {
    do { room = try Room(text) } catch { throw ValidationError(error) }
    if case .bytes = room { note = try WrittenSize(parsing: text).note } else { note = nil }
  }
}

/// Parses an order: `oldest`, or `largest,oldest`.
func parseOrder(_ text: String) throws -> [CacheLimits.Order] {
  try text.utf8.split(separator: UInt8(ascii: ",")).map { name in
    let name = String(decoding: Array(name), as: UTF8.self)
    guard let order = CacheLimits.Order(rawValue: name) else {
      throw ValidationError(
        "Unknown order '\(printable(name))'. Use one of: "
          + CacheLimits.Order.allCases.map(\.rawValue).joined(separator: ", ") + ".")
    }
    return order
  }
}
