public import Bytes
import ResponseStorage

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
    // The longest has a sign and 19 digits.
    bytes.append(addingCapacity: 20) { (output: inout OutputSpan<UInt8>) in
      output.append(decimal: value)
    }
  }

  /// Appends a number of bytes in decimal, without a unit.
  public mutating func append(plain count: ByteCount) { append(integer: count.bytes) }

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
