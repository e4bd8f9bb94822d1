/// Writes binary property lists (`bplist00`).
///
/// Equal strings are written once, as in CoreFoundation. The same value always produces the same bytes.
public struct PropertyListWriter {
  private var objects: [[UInt8]] = []
  private var strings: [[UInt8]: Int] = [:]
  /// The data object whose content the caller writes, and the size of the content.
  private var gap: (object: Int?, size: Int64)?
  /// Containers whose references are written at the end: their size depends on the number of objects.
  private var containers: [(object: Int, head: [UInt8], references: [Int])] = []

  /// Creates a writer.
  public init() {}

  /// Returns the bytes of a list whose root is `value`.
  ///
  /// A string that is not UTF-8 is repaired with U+FFFD. A date must be finite, or readers refuse the list.
  ///
  /// - Complexity: O(*n*), where *n* is the size of the tree. Recurses as deeply as the tree is nested.
  public func bytes(of value: PropertyListValue) -> [UInt8] {
    var writer = Self()
    let root = writer.add(value)
    return writer.joined(root: root)
  }

  /// Returns the bytes before and after the content of the first data object of a list. The caller writes the content
  /// itself, so that a large one need not be in memory.
  ///
  /// - Parameters:
  ///   - value: The root. The bytes of its first data object are ignored.
  ///   - dataSize: The size of the data object in bytes.
  public func parts(
    of value: PropertyListValue, dataSize: Int64
  ) -> (before: [UInt8], after: [UInt8]) {
    var writer = Self()
    writer.gap = (nil, dataSize)
    let root = writer.add(value)
    return writer.parts(root: root)
  }

  /// Adds an object and everything below it, and returns its number.
  private mutating func add(_ value: PropertyListValue) -> Int {
    switch value {
    // `.opaque` only comes from reading; no list to be written contains it.
    case .null, .opaque: return append([0x00])
    case .boolean(let value): return append([value ? 0x09 : 0x08])
    case .integer(let value): return append(Self.integer(value))
    case .real(let value): return append([0x23] + Self.bytes(value.bitPattern, count: 8))
    case .date(let seconds): return append([0x33] + Self.bytes(seconds.bitPattern, count: 8))
    case .data(let bytes):
      guard let gap, gap.object == nil else {
        return append(Self.head(0x40, bytes.count) + bytes)
      }
      self.gap?.object = objects.count
      return append(Self.head(0x40, Int(clamping: gap.size)))
    case .string(let text): return add(string: text)
    case .uid(let number):
      let count = Self.width(of: number)
      return append([0x80 | UInt8(count - 1)] + Self.bytes(number, count: count))
    case .array(let values):
      // The place is taken before the elements are added, so that the root gets the number 0, as in
      // lists of CoreFoundation.
      let object = append([])
      let references = values.map { add($0) }
      containers.append((object, Self.head(0xA0, values.count), references))
      return object
    case .dictionary(let entries):
      let object = append([])
      // All keys come before all values, which is how the format has them.
      let keys = entries.map { add(string: $0.key) }
      let values = entries.map { add($0.value) }
      containers.append((object, Self.head(0xD0, entries.count), keys + values))
      return object
    }
  }

  private mutating func add(string text: [UInt8]) -> Int {
    if let known = strings[text] { return known }
    let object: Int
    // Like CoreFoundation: ASCII in single bytes, all other text in UTF-16.
    if text.allSatisfy({ $0 < 0x80 }) {
      object = append(Self.head(0x50, text.count) + text)
    } else {
      // `String(decoding:)` repairs invalid text, so a list that is written never has a lone
      // surrogate.
      let units = Array(String(decoding: text, as: UTF8.self).utf16)
      object = append(
        Self.head(0x60, units.count)
          + units.flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] })
    }
    strings[text] = object
    return object
  }

  private mutating func append(_ bytes: [UInt8]) -> Int {
    objects.append(bytes)
    return objects.count - 1
  }

  private mutating func joined(root: Int) -> [UInt8] {
    let (before, after) = parts(root: root)
    return before + after
  }

  private mutating func parts(root: Int) -> (before: [UInt8], after: [UInt8]) {
    let referenceSize = Self.width(of: UInt64(objects.count))
    for container in containers {
      objects[container.object] =
        container.head
        + container.references.flatMap { Self.bytes(UInt64($0), count: referenceSize) }
    }
    var result = Array("bplist00".utf8)
    var before: [UInt8] = []
    var left: Int64 = 0
    var offsets: [Int64] = []
    offsets.reserveCapacity(objects.count)
    for (number, object) in objects.enumerated() {
      offsets.append(left + Int64(before.count + result.count))
      result += object
      if let gap, number == gap.object {
        // Everything so far comes before the content; the rest of the list follows it.
        swap(&before, &result)
        left = gap.size
      }
    }
    let table = left + Int64(before.count + result.count)
    let offsetSize = Self.width(of: UInt64(table))
    for offset in offsets { result += Self.bytes(UInt64(offset), count: offsetSize) }
    result += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
    result += Self.bytes(UInt64(objects.count), count: 8)
    result += Self.bytes(UInt64(root), count: 8)
    result += Self.bytes(UInt64(table), count: 8)
    return (before, result)
  }

  /// The head of an object whose type has a count.
  static func head(_ type: UInt8, _ count: Int) -> [UInt8] {
    count < 15 ? [type | UInt8(count)] : [type | 0x0F] + integer(Int64(count))
  }

  /// Writes an integer: unsigned with 1, 2 or 4 bytes, signed with 8.
  private static func integer(_ value: Int64) -> [UInt8] {
    // Readers take fewer than eight bytes as unsigned, so a negative number needs all eight.
    let count = value < 0 ? 8 : width(of: UInt64(value))
    return [0x10 | UInt8(count.trailingZeroBitCount)]
      + bytes(UInt64(bitPattern: value), count: count)
  }

  /// The smallest power of two of bytes that can represent `value`.
  private static func width(of value: UInt64) -> Int {
    value <= 0xFF ? 1 : value <= 0xFFFF ? 2 : value <= 0xFFFF_FFFF ? 4 : 8
  }

  private static func bytes(_ value: UInt64, count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> UInt64($0 * 8)) }
  }
}
