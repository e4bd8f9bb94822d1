/// A value that was archived by key: those of the classes that property lists have, and what is known of
/// the rest.
public indirect enum ArchivedValue: Hashable, Sendable {
  /// One entry of a dictionary.
  public struct Entry: Hashable, Sendable {
    /// The key in UTF-8; digits for an integer, and nothing for what is neither.
    public var key: [UInt8]
    /// The value.
    public var value: ArchivedValue

    /// Creates an entry.
    public init(key: [UInt8], value: ArchivedValue) {
      self.key = key
      self.value = value
    }
  }

  /// The absence of a value, and `NSNull`.
  case null
  /// A boolean.
  case boolean(Bool)
  /// An integer.
  case integer(Int64)
  /// A real number, also one that is not finite.
  case real(Double)
  /// Seconds since 2001-01-01 00:00:00 UTC, also if that is no finite number.
  case date(Double)
  /// Bytes.
  case data(ArchivedData)
  /// The UTF-8 of a string, or the text of a UUID.
  case string([UInt8])
  /// The text of a URL, then that of the URL that it is relative to, and so on.
  case url([[UInt8]])
  /// Elements, in their order; also those of a set.
  case array([ArchivedValue])
  /// Entries, in their order; a key may occur more than once.
  case dictionary([Entry])
  /// An instance of a class that is not decoded, by the name of the class; nothing if it has none.
  case instance([UInt8])
}
