import Bytes

/// A view of a binary property list (`bplist00`) that decodes objects on demand.
///
/// Foundation's parser is not used: on Linux, it crashes on a set and hangs on objects that are shared very often.
///
/// The bytes may be hostile. Every size, reference and offset is checked before use, and only what a function returns
/// is allocated. The format is that of CoreFoundation's `CFBinaryPList.c`: a header of 8 bytes, the objects, a table of
/// their offsets, and a trailer of 32 bytes.
public struct BinaryPropertyList: ~Escapable {
  /// An object of the list, by its index in the offset table.
  public struct Object: Hashable, Sendable {
    let index: Int
  }

  /// The types of objects. Sets are recognized, but their elements cannot be read.
  public enum Kind: Hashable, Sendable {
    case null, boolean, integer, real, date, data, string, array, dictionary, set, uid
  }

  // Numbers of any size are read as eight bytes. So each of these spans extends eight bytes past its content; the
  // trailer of 32 bytes guarantees that these bytes exist.
  /// The header and the objects.
  let bytes: Span<UInt8>
  /// The offset table.
  private let offsets: Span<UInt8>
  let limits: PropertyListLimits
  private let offsetSize: Int
  /// The number of bits by which to shift an eight-byte word that begins with an offset.
  private let offsetShift: UInt64
  let referenceSize: Int
  let objectCount: Int

  /// The offset at which the objects end and the offset table begins.
  var objectsEnd: Int { bytes.count &- 8 }

  /// The top-level object.
  public let root: Object

  /// Creates a view and checks the header and the trailer. Objects are checked when they are read.
  ///
  /// - Throws: ``PropertyListError``: `xmlPropertyList` for bytes that begin like XML, `notBinaryPropertyList` for any
  ///   others without `bplist00`, `tooLarge` beyond `limits.maximumBytes`, `truncated`, or `malformed` for an
  ///   impossible trailer.
  /// - Complexity: O(1).
  @_lifetime(copy bytes)
  public init(
    _ bytes: Span<UInt8>, limits: PropertyListLimits = .standard
  ) throws(PropertyListError) {
    // Before anything is read, so that the size of a hostile value alone costs nothing.
    guard bytes.count <= limits.maximumBytes else { throw PropertyListError(.tooLarge, at: 0) }
    guard Self.hasHeader(bytes) else { throw Self.headerError(bytes) }
    // The smallest list: the header, an object of one byte, an offset of one byte, and the trailer.
    guard bytes.count >= 8 + 1 + 1 + 32 else {
      throw PropertyListError(.truncated, at: bytes.count)
    }
    let trailer = bytes.count - 32
    let offsetSize = Int(bytes[trailer + 6])
    let referenceSize = Int(bytes[trailer + 7])
    let objectCount = Self.word(bytes, at: trailer + 8)
    let root = Self.word(bytes, at: trailer + 16)
    let table = Self.word(bytes, at: trailer + 24)
    // Divide instead of multiplying, so that a hostile count cannot overflow.
    // An offset table that begins within the header would make the header an object.
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
    // "bplist00" as a big-endian number.
    word(bytes, at: 0) == 0x6270_6C69_7374_3030
  }

  /// The error for bytes with another header.
  private static func headerError(_ bytes: Span<UInt8>) -> PropertyListError {
    // XML begins like this in UTF-8, and after a byte order mark in UTF-8 or UTF-16.
    let beginnings: [[UInt8]] = [
      Array("<?xml".utf8), Array("<plist".utf8), [0xEF, 0xBB, 0xBF, 0x3C],
      [0xFE, 0xFF, 0x00, 0x3C], [0xFF, 0xFE, 0x3C, 0x00],
    ]
    let isXML = beginnings.contains { beginning in
      beginning.count <= bytes.count && beginning.indices.allSatisfy { bytes[$0] == beginning[$0] }
    }
    return PropertyListError(isXML ? .xmlPropertyList : .notBinaryPropertyList, at: 0)
  }

  /// Reads a big-endian number of one to eight bytes, which must be among the objects.
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

  /// Reads a big-endian number of eight bytes; 0 if they are not all inside `bytes`.
  @inline(__always)
  static func word(_ bytes: Span<UInt8>, at offset: Int) -> UInt64 {
    let word = bytes.extracting(droppingFirst: offset).extracting(first: 8)
    guard word.count == 8 else { return 0 }
    return word.word(at: 0).byteSwapped
  }

  /// The head of an object: its marker, its count, and the offset of its content.
  struct Head {
    let marker: UInt8
    let offset: Int
    /// The low four bits of the marker, or the integer after it; never more than the number of bytes.
    let count: Int
    let payload: Int

    var type: UInt8 { marker >> 4 }
  }

  /// Reads the head of an object.
  @inline(__always)
  func head(of object: Object) throws(PropertyListError) -> Head {
    try head(at: offset(of: object))
  }

  /// The offset at which an object begins, always inside the objects.
  @inline(__always)
  func offset(of object: Object) throws(PropertyListError) -> Int {
    let entry = object.index &* offsetSize
    // An object of another list may be beyond the table of this one. The first condition of each guard is always true:
    // it lets the compiler see that eight bytes can be read, and drop its own check.
    guard offsets.count >= 8, entry >= 0, entry < offsets.count &- 8 else {
      throw PropertyListError(.malformed, at: objectsEnd)
    }
    // Offsets are checked when they are used, as mostly only a few objects of a list are read.
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
    // Nearly all counts fit in one byte.
    guard bytes[offset &+ 1] == 0x10 else { return try longHead(marker, offset) }
    let count = Int(bytes[offset &+ 2])
    return Head(marker: marker, offset: offset, count: count, payload: offset &+ 3)
  }

  /// The types with a count, which follows the marker if it is 15 or more: data, strings and containers. One bit per
  /// type.
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
    // Bounding the count by the size of the list keeps the product in `check` from overflowing.
    guard count <= objectsEnd else { throw PropertyListError(.truncated, at: offset) }
    return Head(marker: marker, offset: offset, count: count, payload: offset + 2 + size)
  }

  /// Checks that `count` items of `size` bytes, at most 16, are inside the objects.
  @inline(__always)
  func check(_ head: Head, size: Int, count: Int) throws(PropertyListError) {
    // A count is never larger than the number of bytes, so the product cannot overflow.
    guard count &* size <= objectsEnd &- head.payload else {
      throw PropertyListError(.truncated, at: head.offset)
    }
  }

  /// The type of an object. Its content is not checked, and may still be truncated.
  ///
  /// - Throws: ``PropertyListError`` if there is no such object or no such type.
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

extension BinaryPropertyList {
  /// The elements of an array, whose references are known to lie inside the list.
  // It has a place and no span, so that it can be kept and passed on. It is checked once, and each
  // element then costs one load.
  public struct Elements: Hashable, Sendable {
    /// The number of elements.
    public let count: Int

    fileprivate let payload: Int
  }

  /// The elements of an array, to be read one by one; `nil` for any other object.
  ///
  /// - Complexity: O(1).
  public func elements(of array: Object) throws(PropertyListError) -> Elements? {
    let head = try head(of: array)
    guard head.type == 0xA else { return nil }
    try check(head, size: referenceSize, count: head.count)
    return Elements(count: head.count, payload: head.payload)
  }

  /// An element of an array of this list; `nil` beyond its end.
  ///
  /// - Complexity: O(1).
  @inline(__always)
  public func element(
    _ position: Int, of elements: Elements
  ) throws(PropertyListError) -> Object? {
    // As an unsigned number, a negative position is beyond the end too.
    guard UInt(bitPattern: position) < UInt(bitPattern: elements.count) else { return nil }
    return try reference(position, from: elements.payload)
  }

  /// An element of an array; `nil` beyond its end, or if the object is not an array.
  ///
  /// - Complexity: O(1). To read many elements of one array, get its ``elements(of:)`` once.
  public func element(_ position: Int, of array: Object) throws(PropertyListError) -> Object? {
    guard let elements = try elements(of: array) else { return nil }
    return try element(position, of: elements)
  }

  /// An element of an array as an integer; `nil` beyond the end, or if the element is not an integer.
  ///
  /// - Complexity: O(1).
  public func integer(
    _ position: Int, of elements: Elements
  ) throws(PropertyListError) -> Int64? {
    guard let element = try element(position, of: elements) else { return nil }
    return try integerIfAny(head(of: element))
  }

  /// An element of an array as a real number; `nil` beyond the end, or if the element is not a real number.
  ///
  /// - Complexity: O(1).
  public func real(
    _ position: Int, of elements: Elements
  ) throws(PropertyListError) -> Double? {
    guard let element = try element(position, of: elements) else { return nil }
    return try realIfAny(head(of: element))
  }
}
