/// What a configuration can set: each is the option of the same name.
public enum Setting: String, Hashable, Sendable, CaseIterable {
  /// The cache that commands are about, by its name or its path.
  case cache
  case wait
  case maxDelete = "max-delete"
  case capacity
  case maxSize = "max-size"
  case maxEntries = "max-entries"
  case maxAge = "max-age"
  case maxEntrySize = "max-entry-size"
  case minFree = "min-free"
  case low
  case onlyIfOver = "only-if-over"
  case order

  /// The environment variable that sets it.
  public var variable: String {
    "URLCACHE_ADMIN_"
      + String(
        decoding: rawValue.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 & ~0x20 },
        as: UTF8.self)
  }

  /// What holds if nobody sets it; `nil` if that is nothing.
  public var builtIn: String? {
    switch self {
    case .wait: "5s"
    case .low: "100%"
    case .onlyIfOver: "false"
    case .order: "oldest"
    default: nil
    }
  }

  /// Refuses a value that the option would refuse.
  public func check(_ text: String) throws(WrittenValueError) {
    switch self {
    case .cache:
      if text.isEmpty {
        throw WrittenValueError(text, "names no cache", hint: "write a name or a path")
      }
    case .wait, .maxAge: _ = try WrittenValue.duration(text)
    case .maxSize, .maxEntrySize: _ = try WrittenValue.size(text)
    case .capacity:
      if try WrittenValue.size(text) == 0 {
        throw WrittenValueError(text, "is no capacity", hint: "write a size such as '512MiB'")
      }
    case .maxEntries: try Self.checkCount(text)
    case .maxDelete:
      if text.utf8.last == UInt8(ascii: "%") {
        _ = try WrittenValue.percent(text)
      } else {
        try Self.checkCount(text)
      }
    case .minFree:
      if text.utf8.last == UInt8(ascii: "%") {
        _ = try WrittenValue.percent(text)
      } else {
        _ = try WrittenValue.size(text)
      }
    case .low:
      if try WrittenValue.percent(text) > 100 {
        throw WrittenValueError(text, "is more than all", hint: "write for example '90%'")
      }
    case .onlyIfOver: try Self.check(text, isOneOf: ["true", "false"])
    case .order:
      let names = text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
      for name in names {
        try Self.check(
          String(decoding: Array(name), as: UTF8.self),
          isOneOf: CacheLimits.Order.allCases.map(\.rawValue))
      }
    }
  }

  private static func checkCount(_ text: String) throws(WrittenValueError) {
    guard let count = Int64(text), count >= 0 else {
      throw WrittenValueError(text, "is not a number of entries", hint: "write for example '1000'")
    }
  }

  private static func check(_ text: String, isOneOf words: [String]) throws(WrittenValueError) {
    guard words.contains(where: { $0.utf8.elementsEqual(text.utf8) }) else {
      throw WrittenValueError(
        text, "is none of the words there are", hint: "there are: " + words.joined(separator: " "))
    }
  }
}
