import Bytes

/// Writes binary property lists (`bplist00`).
///
/// Equal strings are written once, as in CoreFoundation. The same value always produces the same bytes.
public struct PropertyListWriter {
  /// An object of the list.
  private struct Object {
    /// The place of its bytes in `contents`; of a container, that of its references in `references`.
    var range: Range<Int>
    /// The type of a container; `nil` for any other object.
    var containerType: UInt8?
  }

  /// A string, and the number of its object.
  private struct KnownString {
    var text: [UInt8]
    var object: Int
  }

  private var objects: [Object] = []
  /// The bytes of the objects, without containers: how long these are depends on the number of objects.
  private var contents: [UInt8] = []
  /// The numbers of the objects in containers.
  private var references: [Int] = []
  /// The strings by their hashes.
  private var strings: [Int: KnownString] = [:]
  /// The data object whose content the caller writes, and the size of the content.
  private var gap: (object: Int?, size: Int64)?

  /// Creates a writer.
  public init() {}

  /// Returns the bytes of a list whose root is `value`.
  ///
  /// A string that is not UTF-8 is repaired with U+FFFD. A date must be finite, or readers refuse the list.
  ///
  /// - Complexity: O(*n*), where *n* is the size of the tree. Recurses as deeply as the tree is nested.
  public func bytes(of value: PropertyListValue) -> [UInt8] {
    var writer = Self()
    writer.reserveCapacity()
    let root = writer.add(value)
    return writer.parts(root: root).after
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

  /// Makes room for a list as small as those of a cache: growing step by step took a tenth of the time.
  private mutating func reserveCapacity() {
    objects.reserveCapacity(64)
    contents.reserveCapacity(1_024)
    references.reserveCapacity(64)
    strings.reserveCapacity(40)
  }

  /// Adds an object and everything below it, and returns its number.
  private mutating func add(_ value: PropertyListValue) -> Int {
    switch value {
    // `.opaque` only comes from reading; no list to be written contains it.
    case .null, .opaque: return append { $0.append(0x00) }
    case .boolean(let value): return append { $0.append(value ? 0x09 : 0x08) }
    case .integer(let value): return append { Self.appendInteger(value, to: &$0) }
    case .real(let value):
      return append {
        $0.append(0x23)
        Self.appendNumber(value.bitPattern, count: 8, to: &$0)
      }
    case .date(let seconds):
      return append {
        $0.append(0x33)
        Self.appendNumber(seconds.bitPattern, count: 8, to: &$0)
      }
    case .data(let bytes):
      guard let gap, gap.object == nil else {
        return append {
          Self.appendHead(0x40, bytes.count, to: &$0)
          $0 += bytes
        }
      }
      self.gap?.object = objects.count
      return append { Self.appendHead(0x40, Int(clamping: gap.size), to: &$0) }
    case .string(let text): return add(string: text)
    case .uid(let number):
      let count = Self.width(of: number)
      return append {
        $0.append(0x80 | UInt8(count - 1))
        Self.appendNumber(number, count: count, to: &$0)
      }
    case .array(let values):
      let (object, first) = appendContainer(0xA0, references: values.count)
      for (index, value) in values.enumerated() {
        let element = add(value)
        references[first + index] = element
      }
      return object
    case .dictionary(let entries):
      let (object, first) = appendContainer(0xD0, references: 2 * entries.count)
      // All keys come before all values, which is how the format has them.
      for (index, entry) in entries.enumerated() {
        let key = add(string: entry.key)
        references[first + index] = key
      }
      for (index, entry) in entries.enumerated() {
        let value = add(entry.value)
        references[first + entries.count + index] = value
      }
      return object
    }
  }

  private mutating func add(string text: [UInt8]) -> Int {
    let hash = Self.hash(of: text.span)
    let known = strings[hash]
    if let known, known.text == text { return known.object }
    let object = append { contents in
      // Like CoreFoundation: ASCII in single bytes, all other text in UTF-16.
      if text.allSatisfy({ $0 < 0x80 }) {
        Self.appendHead(0x50, text.count, to: &contents)
        contents += text
      } else {
        // `String(decoding:)` repairs invalid text, so a list that is written never has a lone
        // surrogate.
        let units = Array(String(decoding: text, as: UTF8.self).utf16)
        Self.appendHead(0x60, units.count, to: &contents)
        for unit in units { Self.appendNumber(UInt64(unit), count: 2, to: &contents) }
      }
    }
    // Of two strings with one hash, the second is written as often as it occurs.
    if known == nil { strings[hash] = KnownString(text: text, object: object) }
    return object
  }

  /// Returns a hash, which is another one in each process: no strings can be made to have the same.
  private static func hash(of text: Span<UInt8>) -> Int {
    var hasher = Hasher()
    for place in stride(from: 0, to: text.count, by: 8) {
      hasher.combine(text.word(paddedAt: place))
    }
    hasher.combine(text.count)
    return hasher.finalize()
  }

  /// Adds an object that is no container, and returns its number.
  private mutating func append(_ write: (inout [UInt8]) -> Void) -> Int {
    let start = contents.count
    write(&contents)
    objects.append(Object(range: start..<contents.count))
    return objects.count - 1
  }

  /// Adds a container whose references are not known yet, and returns its number and the place of the first reference.
  ///
  /// It is added before its elements, so that the root gets the number 0, as in lists of CoreFoundation.
  private mutating func appendContainer(
    _ type: UInt8, references count: Int
  ) -> (object: Int, first: Int) {
    let first = references.count
    references.append(contentsOf: repeatElement(0, count: count))
    objects.append(Object(range: first..<first + count, containerType: type))
    return (objects.count - 1, first)
  }

  private consuming func parts(root: Int) -> (before: [UInt8], after: [UInt8]) {
    let referenceSize = Self.width(of: UInt64(objects.count))
    var result = Array("bplist00".utf8)
    result.reserveCapacity(contents.count + (references.count + objects.count) * 4 + 64)
    var before: [UInt8] = []
    var left: Int64 = 0
    var offsets: [Int64] = []
    offsets.reserveCapacity(objects.count)
    for (number, object) in objects.enumerated() {
      offsets.append(left + Int64(before.count + result.count))
      if let type = object.containerType {
        Self.appendHead(
          type, type == 0xD0 ? object.range.count / 2 : object.range.count, to: &result)
        for place in object.range {
          Self.appendNumber(UInt64(references[place]), count: referenceSize, to: &result)
        }
      } else {
        result += contents[object.range]
      }
      if let gap, number == gap.object {
        // Everything so far comes before the content; the rest of the list follows it.
        swap(&before, &result)
        left = gap.size
      }
    }
    let table = left + Int64(before.count + result.count)
    let offsetSize = Self.width(of: UInt64(table))
    for offset in offsets { Self.appendNumber(UInt64(offset), count: offsetSize, to: &result) }
    result += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
    Self.appendNumber(UInt64(objects.count), count: 8, to: &result)
    Self.appendNumber(UInt64(root), count: 8, to: &result)
    Self.appendNumber(UInt64(table), count: 8, to: &result)
    return (before, result)
  }

  /// Appends the head of an object whose type has a count.
  static func appendHead(_ type: UInt8, _ count: Int, to bytes: inout [UInt8]) {
    guard count >= 15 else { return bytes.append(type | UInt8(count)) }
    bytes.append(type | 0x0F)
    appendInteger(Int64(count), to: &bytes)
  }

  /// Appends an integer: unsigned with 1, 2 or 4 bytes, signed with 8.
  private static func appendInteger(_ value: Int64, to bytes: inout [UInt8]) {
    // Readers take fewer than eight bytes as unsigned, so a negative number needs all eight.
    let count = value < 0 ? 8 : width(of: UInt64(value))
    bytes.append(0x10 | UInt8(count.trailingZeroBitCount))
    appendNumber(UInt64(bitPattern: value), count: count, to: &bytes)
  }

  /// The smallest power of two of bytes that can represent `value`.
  private static func width(of value: UInt64) -> Int {
    value <= 0xFF ? 1 : value <= 0xFFFF ? 2 : value <= 0xFFFF_FFFF ? 4 : 8
  }

  /// Appends the lowest bytes of a number, the highest of them first.
  private static func appendNumber(_ value: UInt64, count: Int, to bytes: inout [UInt8]) {
    var shift = UInt64(count) &* 8
    while shift > 0 {
      shift &-= 8
      bytes.append(UInt8(truncatingIfNeeded: value &>> shift))
    }
  }
}
