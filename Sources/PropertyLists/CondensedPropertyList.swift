/// A property list read from a file without its large data objects.
///
/// The body of a response is one data object, and can be far larger than the rest of its archive. So only the rest is
/// read: the trailer, the offset table, and every object except data of ``smallestLeftOut`` bytes or more, which become
/// empty data. A small file is read whole.
public struct CondensedPropertyList: Sendable {
  /// The default size in bytes from which data is left out. Smaller files are read whole.
  // Archives without their bodies have one or two kilobytes, so a file of this size is mostly body.
  public static let smallestLeftOut: Int64 = 64 << 10

  /// The bytes of the condensed list.
  public let bytes: [UInt8]

  /// The ranges in the file of the data that was left out, by index in the offset table.
  public let leftOut: [Int: Range<Int64>]

  /// Reads a property list.
  ///
  /// - Parameters:
  ///   - size: The size of the file in bytes.
  ///   - limits: The limits on the condensed list and on the number of objects.
  ///   - smallest: The size in bytes from which data is left out, at least 16.
  ///   - read: Returns a range of the file, or less if the file has become shorter.
  /// - Throws: ``PropertyListError``, or any error from `read`.
  public init(
    size: Int64, limits: PropertyListLimits, leavingOut smallest: Int64 = smallestLeftOut,
    read: (Range<Int64>) throws -> [UInt8]
  ) throws {
    // The head of a data object has up to 10 bytes, which are read before its size is known.
    let smallest = max(smallest, 16)
    guard size > max(smallest, 32) else {
      bytes = try read(0..<max(0, size))
      leftOut = [:]
      return
    }
    // The end is read first: only the trailer knows where anything else is.
    let trailer = try Trailer(try read(size - 32..<size), size: size, limits: limits)
    let header = try read(0..<8)
    guard header == Array("bplist00".utf8) else {
      // `BinaryPropertyList` reports what these bytes are.
      (bytes, leftOut) = (header, [:])
      return
    }
    let table = try read(trailer.table..<trailer.table + trailer.tableSize)
    guard table.count == trailer.tableSize else {
      throw PropertyListError(.truncated, at: Int(clamping: trailer.table))
    }
    var outline = Outline(trailer, offsets: trailer.offsets(in: table), leavingOut: smallest)
    try outline.findLargeData(read)
    bytes = try outline.condensed(header, limits: limits, read)
    leftOut = outline.leftOut
  }
}

/// The trailer of a property list, which locates everything else.
private struct Trailer {
  let offsetSize: Int
  let referenceSize: UInt8
  let count: Int
  let root: [UInt8]
  let table: Int64

  var tableSize: Int64 { Int64(count) * Int64(offsetSize) }

  init(_ bytes: [UInt8], size: Int64, limits: PropertyListLimits) throws(PropertyListError) {
    let start = Int(clamping: size - 32)
    guard bytes.count == 32 else { throw PropertyListError(.truncated, at: start) }
    let numbers = [8, 24].map { Self.integer(bytes, at: $0, size: 8) }
    offsetSize = Int(bytes[6])
    referenceSize = bytes[7]
    guard 1...8 ~= offsetSize, let count = numbers[0], let table = numbers[1], count > 0,
      table >= 9, Int64(table) < size - 32
    else { throw PropertyListError(.malformed, at: start) }
    // This bounds the offset table, which is read into memory.
    guard count <= limits.maximumVisits else { throw PropertyListError(.tooManyObjects, at: start) }
    self.count = count
    self.table = Int64(table)
    root = Array(bytes[16..<24])
    guard tableSize <= size - 32 - self.table else {
      throw PropertyListError(.malformed, at: start)
    }
  }

  /// The offsets of the objects; 0 for an offset outside the objects.
  func offsets(in table: [UInt8]) -> [Int64] {
    (0..<count).map { index in
      let offset = Self.integer(table, at: index * offsetSize, size: offsetSize)
      // The view of the condensed list reports such an object when it is read.
      guard let offset, offset >= 8, offset < self.table else { return 0 }
      return Int64(offset)
    }
  }

  /// Reads a big-endian integer; `nil` if it is not inside the bytes or is larger than `Int.max`.
  static func integer(_ bytes: [UInt8], at offset: Int, size: Int) -> Int? {
    guard offset >= 0, size <= bytes.count, offset <= bytes.count - size else { return nil }
    return Int(exactly: bytes[offset..<offset + size].reduce(0) { $0 << 8 | UInt64($1) })
  }
}

/// The places of the objects, and which objects are large data.
private struct Outline {
  private let trailer: Trailer
  private let offsets: [Int64]
  private let smallest: Int64
  /// The offsets at which objects begin, ascending, and the end of the last object.
  private let starts: [Int64]
  /// The ranges of large data, by the offset of their objects.
  private var large: [Int64: Range<Int64>] = [:]

  init(_ trailer: Trailer, offsets: [Int64], leavingOut smallest: Int64) {
    self.trailer = trailer
    self.smallest = smallest
    self.offsets = offsets
    // The length of an object is not in the list. What lies between two beginnings is as much as an
    // object can have without overlapping the next one.
    starts = Set(offsets.filter { $0 > 0 }).sorted() + [trailer.table]
  }

  var leftOut: [Int: Range<Int64>] {
    var result: [Int: Range<Int64>] = [:]
    for (index, offset) in offsets.enumerated() { result[index] = large[offset] }
    return result
  }

  /// Finds large data by reading the head of each object that is followed by enough bytes.
  mutating func findLargeData(_ read: (Range<Int64>) throws -> [UInt8]) throws {
    for (start, end) in zip(starts, starts.dropFirst())
    where end - start > smallest {
      // A marker, the marker of the count, and a count of at most eight bytes.
      let head = try read(start..<start + 10)
      // Data with an explicit count. Without one, data has at most 14 bytes.
      guard head.count == 10, head[0] == 0x4F, head[1] & 0xF0 == 0x10, head[1] & 0x0F <= 3 else {
        continue
      }
      let width = 1 << Int(head[1] & 0x0F)
      guard let count = Trailer.integer(head, at: 2, size: width) else { continue }
      let first = start + 2 + Int64(width)
      // An object that claims more than is there is not left out, and `BinaryPropertyList` reports
      // it.
      if Int64(count) >= smallest, Int64(count) <= end - first {
        large[start] = first..<first + Int64(count)
      }
    }
  }

  /// Reads all objects except large data, and writes a new offset table.
  func condensed(
    _ header: [UInt8], limits: PropertyListLimits, _ read: (Range<Int64>) throws -> [UInt8]
  ) throws -> [UInt8] {
    var result = header
    var places: [Int64: Int] = [:]
    var index = 0
    while index + 1 < starts.count {
      if large[starts[index]] != nil {
        places[starts[index]] = result.count
        // An empty data object takes the place of large data.
        result.append(0x40)
        index += 1
        continue
      }
      // Read neighboring objects in one go.
      let first = index
      while index + 1 < starts.count, large[starts[index]] == nil { index += 1 }
      let range = starts[first]..<starts[index]
      guard Int64(range.count) + Int64(result.count) <= Int64(limits.maximumBytes) else {
        throw PropertyListError(.tooLarge, at: Int(clamping: range.lowerBound))
      }
      for start in starts[first..<index] {
        places[start] = result.count + Int(start - range.lowerBound)
      }
      result += try read(range)
    }
    let table = result.count
    for offset in offsets { append(UInt64(places[offset] ?? 0), to: &result) }
    // Offsets of eight bytes always fit, whatever is left out. The references inside of objects
    // keep their size, as objects are copied as they are.
    result += [0, 0, 0, 0, 0, 0, 8, trailer.referenceSize]
    append(UInt64(offsets.count), to: &result)
    result += trailer.root
    append(UInt64(table), to: &result)
    return result
  }

  private func append(_ number: UInt64, to bytes: inout [UInt8]) {
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }
}
