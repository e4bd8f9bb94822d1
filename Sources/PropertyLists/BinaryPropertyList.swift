import Bytes

/// A view of a binary property list (`bplist00`), which decodes an object when it is asked for.
///
/// The bytes may be hostile. Every size, reference and offset is checked before it is used, and
/// nothing is allocated but what a function returns. The format is that of `CFBinaryPList.c` of
/// CoreFoundation: a header of 8 bytes, the objects, a table of their offsets, and a trailer of 32
/// bytes.
public struct BinaryPropertyList: ~Escapable {
  /// An object of the list: its place in the table of offsets.
  public struct Object: Hashable, Sendable {
    let index: Int
  }

  /// The types of objects; a set is recognised only, its elements are not read.
  public enum Kind: Hashable, Sendable {
    case null, boolean, integer, real, date, data, string, array, dictionary, set, uid
  }

  // Numbers are read as eight bytes, whatever their size. So each of these spans has eight bytes more than
  // it says, which are there because a trailer of 32 bytes follows.
  /// The header and the objects.
  let bytes: Span<UInt8>
  /// The table of offsets.
  private let offsets: Span<UInt8>
  let limits: PropertyListLimits
  private let offsetSize: Int
  /// How many bits of eight bytes are not those of an offset at their beginning.
  private let offsetShift: UInt64
  let referenceSize: Int
  let objectCount: Int

  /// Where the objects end and the table of offsets begins.
  var objectsEnd: Int { bytes.count &- 8 }

  /// The object that holds all others.
  public let root: Object

  /// Creates a view after checking the header and the trailer; objects are checked when they are
  /// asked for.
  ///
  /// - Throws: ``PropertyListError``: `xmlPropertyList` for what begins like XML,
  ///   `notBinaryPropertyList` for anything else but `bplist00`, `tooLarge` beyond
  ///   `limits.maximumBytes`, `truncated` or `malformed` for a trailer that cannot be right.
  /// - Complexity: O(1).
  @_lifetime(copy bytes)
  public init(
    _ bytes: Span<UInt8>, limits: PropertyListLimits = .standard
  ) throws(PropertyListError) {
    guard bytes.count <= limits.maximumBytes else { throw PropertyListError(.tooLarge, at: 0) }
    guard Self.hasHeader(bytes) else { throw Self.headerError(bytes) }
    guard bytes.count >= 8 + 1 + 1 + 32 else {
      throw PropertyListError(.truncated, at: bytes.count)
    }
    let trailer = bytes.count - 32
    let offsetSize = Int(bytes[trailer + 6])
    let referenceSize = Int(bytes[trailer + 7])
    let objectCount = Self.word(bytes, at: trailer + 8)
    let root = Self.word(bytes, at: trailer + 16)
    let table = Self.word(bytes, at: trailer + 24)
    guard 1...8 ~= offsetSize, 1...8 ~= referenceSize, root < objectCount, table >= 9,
      table < UInt64(trailer), objectCount <= (UInt64(trailer) &- table) / UInt64(offsetSize)
    else { throw PropertyListError(.malformed, at: trailer) }
    let objectsEnd = Int(truncatingIfNeeded: table)
    self.bytes = bytes.extracting(first: objectsEnd &+ 8)
    self.offsets = bytes.extracting(droppingFirst: objectsEnd)
      .extracting(first: Int(truncatingIfNeeded: objectCount) &* offsetSize &+ 8)
    self.limits = limits
    self.offsetSize = offsetSize
    self.offsetShift = UInt64(truncatingIfNeeded: 64 &- 8 &* offsetSize)
    self.referenceSize = referenceSize
    self.objectCount = Int(truncatingIfNeeded: objectCount)
    self.root = Object(index: Int(truncatingIfNeeded: root))
  }

  @inline(__always)
  private static func hasHeader(_ bytes: Span<UInt8>) -> Bool {
    // "bplist00", as the eight bytes of a number.
    word(bytes, at: 0) == 0x6270_6C69_7374_3030
  }

  /// What is wrong with bytes that have another header.
  private static func headerError(_ bytes: Span<UInt8>) -> PropertyListError {
    // The beginnings of XML, in UTF-8 and, after a byte order mark, in UTF-16 too.
    let beginnings: [[UInt8]] = [
      Array("<?xml".utf8), Array("<plist".utf8), [0xEF, 0xBB, 0xBF, 0x3C],
      [0xFE, 0xFF, 0x00, 0x3C], [0xFF, 0xFE, 0x3C, 0x00],
    ]
    let isXML = beginnings.contains { beginning in
      beginning.count <= bytes.count && beginning.indices.allSatisfy { bytes[$0] == beginning[$0] }
    }
    return PropertyListError(isXML ? .xmlPropertyList : .notBinaryPropertyList, at: 0)
  }

  /// Reads a big-endian number of one to eight bytes, which must lie among the objects.
  @inline(__always)
  static func bits(_ bytes: Span<UInt8>, at offset: Int, size: Int) -> UInt64 {
    switch size {
    case 1: UInt64(bytes[offset])
    case 2: UInt64(bytes[offset]) << 8 | UInt64(bytes[offset &+ 1])
    default: wideBits(bytes, at: offset, size: size)
    }
  }

  private static func wideBits(_ bytes: Span<UInt8>, at offset: Int, size: Int) -> UInt64 {
    word(bytes, at: offset) &>> UInt64(truncatingIfNeeded: 64 &- 8 &* size)
  }

  /// Reads a big-endian number of eight bytes; 0 if it does not lie in the bytes.
  @inline(__always)
  static func word(_ bytes: Span<UInt8>, at offset: Int) -> UInt64 {
    let word = bytes.extracting(droppingFirst: offset).extracting(first: 8)
    guard word.count == 8 else { return 0 }
    return word.word(at: 0).byteSwapped
  }

  /// The head of an object: its marker, the number of what follows, and where that begins.
  struct Head {
    let marker: UInt8
    let offset: Int
    /// The low four bits of the marker, or the integer that follows it, at most the number of bytes.
    let count: Int
    let payload: Int

    var type: UInt8 { marker >> 4 }
  }

  /// Reads the head of an object.
  @inline(__always)
  func head(of object: Object) throws(PropertyListError) -> Head {
    try head(at: offset(of: object))
  }

  /// Where an object begins, which is among the objects.
  @inline(__always)
  func offset(of object: Object) throws(PropertyListError) -> Int {
    let entry = object.index &* offsetSize
    // An object of another list may lie beyond this one. Both guards begin with what is known, so that the
    // compiler sees that eight bytes can be read, and does not check it again.
    guard offsets.count >= 8, entry >= 0, entry < offsets.count &- 8 else {
      throw PropertyListError(.malformed, at: objectsEnd)
    }
    let place = Int(truncatingIfNeeded: Self.word(offsets, at: entry) &>> offsetShift)
    guard bytes.count >= 8, place >= 8, place < objectsEnd else {
      throw PropertyListError(.malformed, at: objectsEnd &+ entry)
    }
    return place
  }

  /// Reads the head of the object that begins at an offset.
  @inline(__always)
  func head(at offset: Int) throws(PropertyListError) -> Head {
    let marker = bytes[offset]
    let low = Int(marker & 0x0F)
    guard low == 0x0F, Self.countedTypes &>> UInt16(marker &>> 4) & 1 == 1 else {
      return Head(marker: marker, offset: offset, count: low, payload: offset &+ 1)
    }
    // Nearly all counts take one byte.
    guard bytes[offset &+ 1] == 0x10 else { return try longHead(marker, offset) }
    let count = Int(bytes[offset &+ 2])
    return Head(marker: marker, offset: offset, count: count, payload: offset &+ 3)
  }

  /// The types that have a count, which follows the marker if it is 15 or more: data, strings and
  /// containers.
  private static var countedTypes: UInt16 { 0b1111_1100_0111_0000 }

  /// Reads the head of an object whose count takes more than one byte.
  private func longHead(_ marker: UInt8, _ offset: Int) throws(PropertyListError) -> Head {
    guard offset + 1 < objectsEnd else { throw PropertyListError(.truncated, at: offset) }
    let sizeMarker = bytes[offset + 1]
    guard sizeMarker & 0xF0 == 0x10, sizeMarker & 0x0F <= 3 else {
      throw PropertyListError(.malformed, at: offset + 1)
    }
    let size = 1 << Int(sizeMarker & 0x0F)
    guard offset + 2 + size <= objectsEnd else { throw PropertyListError(.truncated, at: offset) }
    guard let count = Int(exactly: Self.bits(bytes, at: offset + 2, size: size)) else {
      throw PropertyListError(.malformed, at: offset + 2)
    }
    guard count <= objectsEnd else { throw PropertyListError(.truncated, at: offset) }
    return Head(marker: marker, offset: offset, count: count, payload: offset + 2 + size)
  }

  /// Makes sure that `count` things of at most 16 bytes lie among the objects.
  @inline(__always)
  func check(_ head: Head, size: Int, count: Int) throws(PropertyListError) {
    // No count is larger than the number of bytes: the product is no overflow.
    guard count &* size <= objectsEnd &- head.payload else {
      throw PropertyListError(.truncated, at: head.offset)
    }
  }

  /// The type of an object.
  ///
  /// - Throws: ``PropertyListError`` if there is no such object or no such type. What the object holds
  ///   is not looked at: it may still be truncated.
  /// - Complexity: O(1).
  public func kind(of object: Object) throws(PropertyListError) -> Kind {
    try kind(of: head(of: object))
  }

  func kind(of head: Head) throws(PropertyListError) -> Kind {
    switch head.type {
    case 0x0:
      switch head.marker {
      case 0x00: return .null
      case 0x08, 0x09: return .boolean
      default: break
      }
    case 0x1 where head.count <= 4: return .integer
    case 0x2 where head.count == 2 || head.count == 3: return .real
    case 0x3 where head.count == 3: return .date
    case 0x4: return .data
    case 0x5, 0x6: return .string
    case 0x8: return .uid
    case 0xA: return .array
    case 0xC: return .set
    case 0xD: return .dictionary
    default: break
    }
    throw PropertyListError(.unsupportedType, at: head.offset)
  }
}
