import Bytes
import Files

/// Why bytes are not what WebKit's encoder writes: a clause.
struct WebKitFormatError: Error, Hashable {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}

/// Reads what WebKit's persistence encoder has written: little-endian values without padding or type tags, followed by
/// a SHA-1 checksum of all of them.
///
/// Every length is compared with what is left. Source: `WTF/wtf/persistence` of WebKit.
struct WebKitDecoder {
  private let bytes: ArraySlice<UInt8>
  /// The index of the next byte.
  private(set) var position: Int
  /// What the checksum is computed of: each value after the number of its type, in 32 bits.
  private var summed: [UInt8] = []
  /// Whether texts are not wanted, and only pass into the checksum: ``text()`` then returns `nil`.
  var skipsTexts = false

  /// The most elements of a list. A page has a few hundred resources, and a message a few dozen fields.
  private static let mostElements: UInt64 = 100_000

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
    summed.reserveCapacity(2 * min(bytes.count, 1_024))
  }

  /// The number of bytes that were not read yet.
  var left: Int { bytes.endIndex - position }

  /// Begins to take the next bytes: adds the number of their type to the sum.
  private mutating func begin(_ count: Int, _ type: UInt8) throws(WebKitFormatError) {
    guard count <= left else { throw WebKitFormatError("it is cut off") }
    summed.append(type)
    for _ in 0..<3 { summed.append(0) }
  }

  /// Takes the next bytes, and adds them to the sum after the number of their type.
  private mutating func take(_ count: Int) throws(WebKitFormatError) -> Range<Int> {
    try begin(count, 101)
    let range = position..<position + count
    summed.append(contentsOf: bytes[range])
    position = range.upperBound
    return range
  }

  private mutating func number(_ count: Int, _ type: UInt8) throws(WebKitFormatError) -> UInt64 {
    try begin(count, type)
    var number: UInt64 = 0
    // A record has dozens of numbers, so no part of the bytes is retained for each.
    for place in 0..<count {
      let byte = bytes[position + place]
      number |= UInt64(byte) << UInt64(8 * place)
      summed.append(byte)
    }
    position += count
    return number
  }

  mutating func flag() throws(WebKitFormatError) -> Bool {
    switch try number(1, 3) {
    case 0: return false
    case 1: return true
    default: throw WebKitFormatError("a flag is neither 0 nor 1")
    }
  }

  mutating func uint8() throws(WebKitFormatError) -> UInt8 {
    UInt8(truncatingIfNeeded: try number(1, 5))
  }

  mutating func uint32() throws(WebKitFormatError) -> UInt32 {
    UInt32(truncatingIfNeeded: try number(4, 11))
  }

  /// Also an enumeration, whatever its size in memory.
  mutating func uint64() throws(WebKitFormatError) -> UInt64 { try number(8, 13) }

  mutating func int16() throws(WebKitFormatError) -> Int16 {
    Int16(truncatingIfNeeded: Int64(bitPattern: try number(2, 103)))
  }

  mutating func int64() throws(WebKitFormatError) -> Int64 { Int64(bitPattern: try number(8, 19)) }

  /// Also a time, in seconds since 1970, and a span of time, in seconds.
  mutating func double() throws(WebKitFormatError) -> Double {
    Double(bitPattern: try number(8, 29))
  }

  /// Bytes without a length of their own, such as a digest.
  mutating func data(_ count: Int) throws(WebKitFormatError) -> ArraySlice<UInt8> {
    bytes[try take(count)]
  }

  /// Passes bytes after their number, in 64 bits.
  mutating func skipLongData() throws(WebKitFormatError) {
    guard let count = Int(exactly: try uint64()) else { throw WebKitFormatError("it is cut off") }
    _ = try take(count)
  }

  /// A text; `nil` for null, which is not the empty text.
  ///
  /// Text of 8-bit characters is returned as it is: WebKitGTK puts one byte of UTF-8 into each of them.
  mutating func text() throws(WebKitFormatError) -> ByteString? {
    let count = try uint32()
    if count == .max { return nil }
    if try flag() {
      let range = try take(Int(count))
      return skipsTexts ? nil : ByteString(Array(bytes[range]))
    }
    // On a 32-bit system, the count could overflow.
    guard let length = Int(exactly: UInt64(count) * 2) else {
      throw WebKitFormatError("it is cut off")
    }
    let start = try take(length).lowerBound
    if skipsTexts { return nil }
    let scalars = (0..<length / 2).map {
      UInt16(bytes[start + 2 * $0]) | UInt16(bytes[start + 2 * $0 + 1]) << 8
    }
    return ByteString(Array(String(decoding: scalars, as: UTF16.self).utf8))
  }

  /// The number of elements of a list.
  ///
  /// - Parameter least: The fewest bytes of an element.
  mutating func count(ofAtLeast least: Int) throws(WebKitFormatError) -> Int {
    let count = try uint64()
    guard count <= Self.mostElements, Int(count) * least <= left else {
      throw WebKitFormatError("it claims more elements than it has room for")
    }
    return Int(count)
  }

  /// Header fields; a value that is null becomes `nil`. If texts are skipped, there are none.
  mutating func fields() throws(WebKitFormatError) -> [(name: ByteString, value: ByteString?)] {
    var fields: [(name: ByteString, value: ByteString?)] = []
    for _ in 0..<(try count(ofAtLeast: 8)) {
      let (name, value) = (try text(), try text())
      if !skipsTexts { fields.append((name ?? "", value)) }
    }
    return fields
  }

  /// Reads the checksum of everything so far.
  ///
  /// - Throws: ``WebKitFormatError`` if it is another one.
  mutating func checksum() throws(WebKitFormatError) {
    var digest = SHA1Digest()
    digest.update(summed[...])
    let sum = digest.bytes
    guard ByteString(Array(try data(20))) == ByteString(sum) else {
      throw WebKitFormatError("its checksum does not match")
    }
  }
}
