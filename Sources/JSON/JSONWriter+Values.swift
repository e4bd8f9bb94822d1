public import Bytes
import Files

/// A type that can be written as JSON.
public protocol JSONValue {
  /// Writes the value.
  func write(to json: inout JSONWriter)
}

extension JSONWriter {
  /// Writes an element of an array, or a document.
  @inlinable
  public mutating func value(_ value: some JSONValue) { value.write(to: &self) }

  /// Writes a member of an object.
  @inlinable
  public mutating func member(_ name: StaticString, _ value: some JSONValue) {
    key(name)
    value.write(to: &self)
  }

  /// Writes a member of an object whose name is not a literal.
  @inlinable
  public mutating func member(named name: String, _ value: some JSONValue) {
    key(named: name)
    value.write(to: &self)
  }

  /// Writes a member whose value is a string that needs no escaping.
  public mutating func member(_ name: StaticString, word: String) {
    key(name)
    self.word(word)
  }

  /// Writes a member that is an object.
  @inlinable
  public mutating func object<Failure: Error>(
    _ name: StaticString, _ layout: Layout = .inLine,
    _ members: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    key(name)
    try object(layout, members)
  }

  /// Writes a member that is an array.
  @inlinable
  public mutating func array<Failure: Error>(
    _ name: StaticString, _ layout: Layout = .inLine,
    _ values: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    key(name)
    try array(layout, values)
  }

  /// Writes a member that is an array of objects; `members` writes the members of each object.
  @inlinable
  public mutating func array<Element, Failure: Error>(
    _ name: StaticString, _ layout: Layout = .inLine, objects elements: some Sequence<Element>,
    _ members: (inout JSONWriter, Element) throws(Failure) -> Void
  ) throws(Failure) {
    key(name)
    let outer = open(UInt8(ascii: "["), layout)
    for element in elements {
      let outer = open(UInt8(ascii: "{"), .inLine)
      try members(&self, element)
      close(UInt8(ascii: "}"), outer)
    }
    close(UInt8(ascii: "]"), outer)
  }

  /// Writes a member that is a string. Bytes that are not UTF-8 become `null` and a member `NAME_base64`.
  public mutating func member(_ name: StaticString, utf8OrBase64 text: [UInt8]?) {
    key(name)
    guard let text else { return null() }
    // A URL in a damaged or hostile cache can be any bytes. If they were repaired, two keys could
    // look equal, and the response could not be found by what is printed.
    if !string(utf8: text) { base64(text, inPlaceOf: name) }
  }

  /// Writes `null`.
  public mutating func null() { literal("null") }

  /// Writes a member that is `null`.
  public mutating func null(_ name: StaticString) {
    key(name)
    null()
  }

  /// Writes JSON that another writer has produced: one value, or several with commas between them.
  public mutating func written(_ value: [UInt8]) {
    separate()
    bytes.append(contentsOf: value)
    place = .next
  }

  /// Writes a JSON literal.
  mutating func literal(_ word: StaticString) {
    separate()
    bytes.append(word)
    place = .next
  }

  /// Writes a number from its digits.
  public mutating func number(_ numeral: String) {
    separate()
    bytes.append(contentsOf: numeral.utf8)
    place = .next
  }

  /// Writes an integer.
  public mutating func integer(_ value: Int64) {
    separate()
    // The longest integer has a sign and 19 digits.
    // All digits are written, although JavaScript and `jq` before 1.7 read integers beyond 2⁵³ as
    // the nearest `Double`. Archives write such numbers as strings for that reason.
    bytes.append(addingCapacity: 20) { (output: inout OutputSpan<UInt8>) in
      output.append(decimal: value)
    }
    place = .next
  }
}

extension Bool: JSONValue {
  public func write(to json: inout JSONWriter) { json.literal(self ? "true" : "false") }
}

extension Int: JSONValue {
  public func write(to json: inout JSONWriter) { json.integer(Int64(self)) }
}

extension Int64: JSONValue {
  public func write(to json: inout JSONWriter) { json.integer(self) }
}

extension ByteCount: JSONValue {
  public func write(to json: inout JSONWriter) { json.integer(bytes) }
}

/// A number, or `null` if it is not finite: JSON has no such numbers.
extension Double: JSONValue {
  public func write(to json: inout JSONWriter) {
    // The description of a `Double` is the shortest text that is read as the same number again.
    if isFinite { json.number("\(self)") } else { json.null() }
  }
}

extension String: JSONValue {
  public func write(to json: inout JSONWriter) { json.string(self) }
}

/// A time in UTC, truncated to seconds.
extension Timestamp: JSONValue {
  public func write(to json: inout JSONWriter) { json.time(self) }
}

/// A value or `null`.
extension Optional: JSONValue where Wrapped: JSONValue {
  @inlinable
  public func write(to json: inout JSONWriter) {
    if let self { self.write(to: &json) } else { json.null() }
  }
}

/// An array on one line.
extension Array: JSONValue where Element: JSONValue {
  @inlinable
  public func write(to json: inout JSONWriter) {
    json.array { json in
      for element in self { element.write(to: &json) }
    }
  }
}

/// Member names that are encoded once, for writing many objects whose names are not literals.
///
/// All names share one array. With an array of strings, every thread that writes would retain and release each name,
/// and the threads would contend for the reference counts.
public struct JSONNames: Sendable {
  /// The bytes between a name and its value.
  static let end: StaticString = "\":"

  /// The encoded names, each after a comma.
  let bytes: [UInt8]

  /// The range of each name in `bytes`.
  let places: [Range<Int>]

  /// Encodes names.
  ///
  /// - Parameters:
  ///   - escaping: The escaping of the writer that will write the objects.
  ///   - key: Writes one name with the given ``JSONWriter``.
  public init<Name>(
    _ escaping: JSONEscaping, _ names: some Sequence<Name>,
    _ key: (inout JSONWriter, Name) -> Void
  ) {
    var json = JSONWriter(escaping)
    var places: [Range<Int>] = []
    for name in names {
      let start = json.bytes.count
      // With `.next`, each name is written after a comma; the first name of an object skips that byte.
      json.place = .next
      key(&json, name)
      places.append(start..<json.bytes.count)
    }
    (bytes, self.places) = (json.bytes, places)
  }
}

/// Which characters of a string a writer escapes as `\uXXXX`, in addition to those that JSON requires.
///
/// Quotes, backslashes, tabs and line ends always have the short escapes `\"`, `\\`, `\t`, `\n` and `\r`.
public struct JSONEscaping: Sendable {
  /// Whether a character is written as one `\uXXXX` escape, or two for a surrogate pair.
  let isEscaped: @Sendable (Unicode.Scalar) -> Bool

  /// The hexadecimal digit for 10: `a` or `A`.
  let digitTen: UInt8

  /// Creates an escaping that covers control characters and those that `isEscaped` selects.
  ///
  /// - Parameters:
  ///   - capitals: Whether the hexadecimal digits are capital letters.
  ///   - isEscaped: Whether a character is escaped. Control characters always are.
  public init(capitals: Bool, _ isEscaped: @escaping @Sendable (Unicode.Scalar) -> Bool) {
    self.isEscaped = isEscaped
    digitTen = capitals ? UInt8(ascii: "A") : UInt8(ascii: "a")
  }

  /// Escapes everything but printable ASCII, with lowercase digits.
  public static let ascii = JSONEscaping(capitals: false) { !(" "..."~").contains($0) }
}

extension Span<UInt8> {
  /// Returns the index of the first byte of a string that ends it or needs decoding; `count` if there is none.
  func endOfPlainText(from start: Int) -> Int {
    var end = start
    // Bytes from 0x80 on pass without being checked: most texts are only compared byte by byte,
    // and who makes a `String` of one finds out then whether it is UTF-8.
    while end &+ 8 <= count {
      let ends = Self.bytesThatEnd(word(at: end))
      if ends != 0 { return end + ends.trailingZeroBitCount / 8 }
      end &+= 8
    }
    while end < count {
      let byte = self[end]
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { break }
      end += 1
    }
    return end
  }

  /// Returns a word whose lowest set bit is in the first of eight bytes that ends a run of plain text; 0 if none does.
  @inline(__always)
  private static func bytesThatEnd(_ word: UInt64) -> UInt64 {
    let ones = 0x0101_0101_0101_0101 as UInt64
    let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
    let slashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
    // A byte borrows from the next one only if it is found itself, so the first one that is found is right.
    let found =
      (word &- ones &* 0x20) & ~word | (quotes &- ones) & ~quotes | (slashes &- ones) & ~slashes
    return found & (ones &* 0x80)
  }
}
