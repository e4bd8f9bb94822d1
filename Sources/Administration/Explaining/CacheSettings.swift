public import Bytes
import ResponseStorage

/// The settings of one cache outside of the command line; `nil` for settings without a value.
public struct CacheSettings: Hashable, Sendable {
  /// The time to wait for a lock, in seconds.
  public private(set) var wait: Double?
  /// The maximum that one command may remove.
  public private(set) var maxDelete: RemovalCap?
  /// The disk capacity set by the app, in bytes.
  public private(set) var capacity: ByteCount?
  /// The maximum size on disk, in bytes.
  public private(set) var maxSize: ByteCount?
  /// The maximum number of entries.
  public private(set) var maxEntries: Int64?
  /// The maximum age of an entry, in seconds.
  public private(set) var maxAge: Double?
  /// The maximum size of a body, in bytes.
  public private(set) var maxEntrySize: ByteCount?
  /// The space to keep free on the file system.
  public private(set) var minFree: Room?
  /// The low mark for an exceeded limit, in percent.
  public private(set) var low: Double?
  /// Whether limits of age and body size only apply to a cache over its limits of size or number.
  public private(set) var onlyIfOver: Bool?
  /// The order in which entries are removed.
  public private(set) var order: [CacheLimits.Order]?
  /// Whether commands overwrite what they remove.
  public private(set) var secure: Bool?

  /// The path of the log.
  public private(set) var log: String?
  /// The path of the metrics file.
  public private(set) var metricsFile: String?

  /// Creates settings without values.
  public init() {}

  /// Whether the settings that decide what is removed are the same.
  public func hasLimits(of other: CacheSettings) -> Bool {
    var (one, other) = (self, other)
    (one.wait, one.capacity, one.secure) = (nil, nil, nil)
    (other.wait, other.capacity, other.secure) = (nil, nil, nil)
    return one == other
  }

  /// Sets a value from text in the syntax of the option with the same name.
  ///
  /// ``Setting/cache`` names the cache that the settings are for; its text is only validated.
  mutating func set(_ setting: Setting, to text: String) throws(WrittenValueError) {
    switch setting {
    case .cache:
      if text.isEmpty {
        throw WrittenValueError(text, "is not a cache", hint: "use a name or a path")
      }
    case .wait: wait = try WrittenValue.duration(text)
    case .maxDelete: maxDelete = try Self.removalLimit(text)
    case .capacity:
      let size = try WrittenValue.size(text)
      if size == 0 {
        throw WrittenValueError(text, "is not a capacity", hint: "use a size such as '512MiB'")
      }
      capacity = size
    case .preset:
      // A preset sets the capacity where the settings are read.
      _ = try Self.word(text, of: CapacityPreset.allCases.map(\.rawValue))
    case .maxSize: maxSize = try WrittenValue.size(text)
    case .maxEntries: maxEntries = try Self.count(text)
    case .maxAge: maxAge = try WrittenValue.duration(text)
    case .maxEntrySize: maxEntrySize = try WrittenValue.size(text)
    case .minFree: minFree = try Room(text)
    case .low:
      let percent = try WrittenValue.percent(text)
      if percent > 100 {
        throw WrittenValueError(text, "is more than 100%", hint: "use a percentage such as '90%'")
      }
      low = percent
    case .onlyIfOver:
      let word = try Self.word(text, of: ["true", "false"])
      onlyIfOver = word == "true"
    case .secure:
      let word = try Self.word(text, of: ["true", "false"])
      secure = word == "true"
    case .order: order = try Self.order(text)
    case .log: log = try Self.path(text)
    case .metricsFile: metricsFile = try Self.path(text)
    }
  }

  private static func path(_ text: String) throws(WrittenValueError) -> String {
    if text.isEmpty {
      throw WrittenValueError(text, "is not a file", hint: "give the path of a file")
    }
    return text
  }

  private static func removalLimit(_ text: String) throws(WrittenValueError) -> RemovalCap {
    text.utf8.last == UInt8(ascii: "%")
      ? .percent(try WrittenValue.percent(text)) : .entries(try count(text))
  }

  private static func count(_ text: String) throws(WrittenValueError) -> Int64 {
    guard let count = Int64(text), count >= 0 else {
      throw WrittenValueError(
        text, "is not a number of entries", hint: "use a number such as '1000'")
    }
    return count
  }

  private static func order(_ text: String) throws(WrittenValueError) -> [CacheLimits.Order] {
    let words = CacheLimits.Order.allCases.map(\.rawValue)
    var order: [CacheLimits.Order] = []
    for name in text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      let word = try word(String(decoding: Array(name), as: UTF8.self), of: words)
      if let next = CacheLimits.Order(rawValue: word) { order.append(next) }
    }
    return order
  }

  /// Returns the word of a list that equals a text byte for byte.
  private static func word(
    _ text: String, of words: [String]
  ) throws(WrittenValueError) -> String {
    // `String` equality would also accept canonically equivalent text.
    guard let word = words.first(where: { $0.utf8.elementsEqual(text.utf8) }) else {
      throw WrittenValueError(
        text, "is not one of the allowed values",
        hint: "use one of: " + words.joined(separator: ", "))
    }
    return word
  }
}

/// An amount of space on a file system.
public enum Room: Hashable, Sendable {
  /// A number of bytes.
  case bytes(ByteCount)
  /// A share of the whole file system, in percent.
  case percent(Double)

  /// Reads a number of bytes such as `10G`, or a share such as `10%`.
  public init(_ text: String) throws(WrittenValueError) {
    self =
      text.utf8.last == UInt8(ascii: "%")
      ? .percent(try WrittenValue.percent(text)) : .bytes(try WrittenValue.size(text))
  }

  /// The text from which it can be read.
  public var text: String {
    switch self {
    case .bytes(let bytes): "\(bytes)"
    case .percent(let percent): "\(percent)%"
    }
  }

  /// Returns the number of bytes on a file system of this size.
  public func bytes(of total: ByteCount) -> ByteCount {
    switch self {
    case .bytes(let bytes): bytes
    case .percent(let percent):
      // `Double` may round a huge total up, beyond `Int64`.
      Int64(exactly: (Double(total) * min(percent, 100) / 100).rounded(.down)).map { ByteCount($0) }
        ?? total
    }
  }
}

extension Setting {
  /// Validates a value like the option of the same name.
  public func check(_ text: String) throws(WrittenValueError) {
    var settings = CacheSettings()
    try settings.set(self, to: text)
  }
}

extension Configuration {
  /// Returns the settings of a cache; invalid values count as not set.
  ///
  /// - Parameter name: The name of the cache, if it has one.
  public func settings(forCache name: String?) -> CacheSettings {
    var settings = CacheSettings()
    for setting in Setting.allCases {
      guard let value = value(of: setting, forCache: name), value.origin != .builtIn else {
        continue
      }
      try? settings.set(setting, to: value.text)
    }
    return settings
  }
}
