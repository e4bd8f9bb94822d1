/// A setting of the configuration, named like its option if it has one.
public enum Setting: String, Hashable, Sendable, CaseIterable, Decodable {
  /// The cache to work on, by name or path.
  case cache
  case wait
  case maxDelete = "max-delete"
  case capacity
  /// A ``capacity``, by the name of a ``CapacityPreset``; there is no such option.
  case preset
  case maxSize = "max-size"
  case maxEntries = "max-entries"
  case maxAge = "max-age"
  case maxEntrySize = "max-entry-size"
  case minFree = "min-free"
  case low
  case onlyIfOver = "only-if-over"
  case order
  /// Whether commands overwrite what they remove.
  case secure
  case log
  case metricsFile = "metrics-file"

  /// Whether the setting is only for all caches, and not in the section of one.
  public var isGeneral: Bool { [.cache, .log, .metricsFile].contains(self) }

  /// The environment variable for the setting.
  public var variable: String {
    "URLCACHE_ADMIN_"
      + String(
        decoding: rawValue.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 & ~0x20 },
        as: UTF8.self)
  }

  /// The default value; `nil` if there is none.
  public var builtIn: String? {
    switch self {
    case .wait: "5s"
    case .low: "100%"
    case .onlyIfOver: "false"
    case .order: "oldest"
    case .secure: "false"
    default: nil
    }
  }
}
