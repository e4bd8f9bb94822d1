/// The text of a string to look for in property lists, made once and compared with many.
public struct PropertyListKey: Hashable, Sendable, ExpressibleByStringLiteral,
  CustomStringConvertible
{
  let ascii: [UInt8]
  let count: Int
  /// The first eight bytes, or all if there are fewer, as a big-endian number.
  let beginning: UInt64
  /// The last eight bytes, or all if there are fewer, as a big-endian number.
  let ending: UInt64

  /// Creates a key.
  ///
  /// - Parameter text: The key, in ASCII.
  public init(_ text: String) {
    ascii = Array(text.utf8)
    count = ascii.count
    beginning = ascii.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    ending = ascii.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  public init(stringLiteral value: String) {
    self.init(value)
  }

  public var description: String { String(decoding: ascii, as: UTF8.self) }
}
