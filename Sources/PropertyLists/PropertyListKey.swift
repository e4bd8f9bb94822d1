/// A string to look for in property lists, encoded once and compared with many.
public struct PropertyListKey: Hashable, Sendable, ExpressibleByStringLiteral,
  CustomStringConvertible
{
  /// The text as a string object, encoded as CoreFoundation always encodes it.
  let object: [UInt8]
  /// The number of bytes of the text.
  let count: Int
  /// The first eight bytes of the object as a big-endian number, padded with zeros, and the mask of the bytes that
  /// exist.
  let (beginning, mask): (UInt64, UInt64)
  /// The last eight bytes of the object, if it has so many.
  let ending: UInt64

  /// Creates a key.
  ///
  /// - Parameter text: The key, in ASCII.
  public init(_ text: String) {
    count = text.utf8.count
    // The marker has the length in it, so comparing the first word rules out keys of other lengths,
    // too.
    var object: [UInt8] = []
    PropertyListWriter.appendHead(0x50, count, to: &object)
    object += text.utf8
    self.object = object
    let missing = UInt64(max(0, 8 - object.count)) * 8
    mask = .max << missing
    beginning = object.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } << missing
    ending = object.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  public init(stringLiteral value: String) {
    self.init(value)
  }

  /// The text, in ASCII.
  var text: ArraySlice<UInt8> {
    object.suffix(count)
  }

  public var description: String { String(decoding: text, as: UTF8.self) }
}
