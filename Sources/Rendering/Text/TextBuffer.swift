public import Bytes
import ResponseStorage

/// A buffer for rendered output that has not been written yet.
///
/// Renderers append to it. The owner of the file descriptor writes ``bytes`` when there are enough of them, and empties
/// the buffer.
public struct TextBuffer: Hashable, Sendable {
  // Bytes and not `String`, because every append to that validates, and output may contain what is
  // not UTF-8 only after it was escaped.
  /// The bytes, which are UTF-8.
  public var bytes: [UInt8] = []

  /// What the text may look like.
  public let style: TextStyle

  /// Creates an empty buffer.
  public init(style: TextStyle = TextStyle()) {
    self.style = style
  }

  /// Appends one byte.
  public mutating func append(_ byte: UInt8) {
    bytes.append(byte)
  }

  /// Appends text without escaping.
  public mutating func append(_ text: ByteString) {
    bytes.append(contentsOf: text.bytes)
  }

  /// Appends text without escaping.
  public mutating func append(_ text: String) {
    bytes.append(contentsOf: text.utf8)
  }

  /// Appends bytes without escaping.
  public mutating func append(contentsOf other: [UInt8]) {
    bytes.append(contentsOf: other)
  }

  /// Appends bytes without escaping.
  public mutating func append(contentsOf other: ArraySlice<UInt8>) {
    bytes.append(contentsOf: other)
  }

  /// Appends a number in decimal.
  public mutating func append(integer value: Int64) {
    // The longest integer has a sign and 19 digits.
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
