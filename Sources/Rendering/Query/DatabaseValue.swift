import Bytes

/// A value of a table in SQL.
public enum DatabaseValue: Hashable, Sendable {
  /// No value: it is unknown, or there is none.
  case null
  case integer(Int64)
  case real(Double)
  /// UTF-8.
  case text([UInt8])
  /// Bytes, also of a text that is not UTF-8.
  case bytes([UInt8])

  /// Creates a value from text of a cache, which may be any bytes.
  public init(text: [UInt8]) {
    // Databases tell text from bytes, and readers of text fail at what is not UTF-8.
    self = text.isUTF8 ? .text(text) : .bytes(text)
  }
}

extension [UInt8] {
  /// Whether the bytes are UTF-8.
  ///
  /// - Complexity: O(*n*)
  var isUTF8: Bool {
    if PrintableASCII.isAll(of: span) { return true }
    var index = 0
    while index < count {
      let (scalar, length) = scalar(at: index)
      if scalar == nil { return false }
      index += length
    }
    return true
  }
}
