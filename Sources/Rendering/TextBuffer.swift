public import ResponseStorage

/// Output that has been rendered, and not yet been written.
///
/// A renderer appends to it; whoever owns the descriptor writes ``bytes`` out when there are enough
/// of them, and empties it.
public struct TextBuffer: Hashable, Sendable {
  /// The bytes, which are UTF-8.
  public var bytes: [UInt8] = []

  /// Creates an empty buffer.
  public init() {}

  /// Appends one byte.
  public mutating func append(_ byte: UInt8) {
    bytes.append(byte)
  }

  /// Appends a text as it is: nothing in it is escaped.
  public mutating func append(_ text: ByteString) {
    bytes.append(contentsOf: text.bytes)
  }

  /// Appends a text as it is: nothing in it is escaped.
  public mutating func append(_ text: String) {
    bytes.append(contentsOf: text.utf8)
  }

  /// Appends bytes as they are.
  public mutating func append(contentsOf other: [UInt8]) {
    bytes.append(contentsOf: other)
  }

  /// Appends bytes as they are.
  public mutating func append(contentsOf other: ArraySlice<UInt8>) {
    bytes.append(contentsOf: other)
  }

  /// Appends a number in decimal.
  public mutating func append(integer value: Int64) {
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    var rest = value.magnitude
    if rest < 10 {
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest))
      return
    }
    var divisor: UInt64 = 10
    while rest / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / divisor))
      rest %= divisor
      divisor /= 10
    }
  }

  /// Appends a number in decimal, with zeros before it up to `width` digits.
  mutating func append(integer value: Int64, width: Int) {
    var limit: Int64 = 10
    var digits = 1
    while digits < width {
      if value < limit { bytes.append(UInt8(ascii: "0")) }
      limit *= 10
      digits += 1
    }
    append(integer: value)
  }

  /// Appends `byte` `count` times, or not at all if `count` is not positive.
  mutating func append(_ byte: UInt8, count: Int) {
    if count > 0 { bytes.append(contentsOf: repeatElement(byte, count: count)) }
  }

  /// Removes everything.
  public mutating func removeAll(keepingCapacity: Bool = false) {
    bytes.removeAll(keepingCapacity: keepingCapacity)
  }

  /// Removes the spaces at the end.
  mutating func trimTrailingSpaces() {
    while bytes.last == UInt8(ascii: " ") { bytes.removeLast() }
  }
}
