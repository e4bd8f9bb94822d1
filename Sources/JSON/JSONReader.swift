/// Reads JSON (RFC 8259) from its beginning to its end, value by value, as the caller asks for them.
///
/// Nothing is kept of what was read, and nothing is allocated but what is returned, so that a
/// document may be larger than memory. All that is passed over is checked as well: text after the
/// document, a comma too many or a number with a leading zero is an error, with its place.
public struct JSONReader {

  /// More bytes than the name of any member has.
  private static let longestName = 1 << 20

  private let deepest: Int
  private let refill: () throws -> [UInt8]
  private var buffer: [UInt8] = []
  private var index = 0
  private var consumed = 0
  private var depth = 0

  /// The first half of a surrogate pair that was read already, of a string that goes on.
  var heldUnit: UInt32?

  /// Creates a reader.
  ///
  /// - Parameters:
  ///   - offset: What ``offset`` is before anything is read.
  ///   - deepest: How many arrays and objects may be in one another.
  ///   - refill: Returns the bytes that follow those it returned before; none at the end.
  public init(
    startingAt offset: Int = 0, deepest: Int = 64, reading refill: @escaping () throws -> [UInt8]
  ) {
    consumed = offset
    self.deepest = deepest
    self.refill = refill
  }

  /// Creates a reader of bytes in memory.
  public init(_ bytes: [UInt8]) {
    deepest = 64
    refill = { [] }
    buffer = bytes
  }

  /// The number of bytes that were read.
  public var offset: Int { consumed + index }

  // MARK: - Values

  /// Reads an object, and calls `member` with each name; it must read the value.
  ///
  /// - Throws: ``JSONError``, or what `member` throws.
  public mutating func object(_ member: (inout JSONReader, _ name: [UInt8]) throws -> Void) throws {
    try open("{")
    guard try !takes("}") else { return close() }
    repeat {
      let name = try self.name()
      try expect(":")
      try member(&self, name)
    } while try continues(to: "}")
    close()
  }

  private mutating func name() throws -> [UInt8] {
    let place = offset
    var name: [UInt8] = []
    try beginString()
    if let run = plainString() {
      guard run.count <= Self.longestName else { throw JSONError("too long a name", at: place) }
      return text(run)
    }
    while try continueString(into: &name) {
      guard name.count <= Self.longestName else { throw JSONError("too long a name", at: place) }
    }
    return name
  }

  /// Reads an array, and calls `element` for each of its elements; it must read the value.
  ///
  /// - Throws: ``JSONError``, or what `element` throws.
  public mutating func array(_ element: (inout JSONReader) throws -> Void) throws {
    try open("[")
    guard try !takes("]") else { return close() }
    repeat { try element(&self) } while try continues(to: "]")
    close()
  }

  /// Reads `true` or `false`.
  public mutating func boolean() throws -> Bool {
    if try peek() == UInt8(ascii: "t") {
      try word("true")
      return true
    }
    try word("false")
    return false
  }

  /// Reads `null`, if that is what comes next.
  ///
  /// - Returns: Whether it is.
  public mutating func null() throws -> Bool {
    guard try peek() == UInt8(ascii: "n") else { return false }
    try word("null")
    return true
  }

  /// Whether a string comes next.
  public mutating func isString() throws -> Bool {
    try peek() == UInt8(ascii: "\"")
  }

  /// Goes to where the next value begins, and returns its offset.
  public mutating func beginningOfValue() throws -> Int {
    _ = try peek()
    return offset
  }

  /// Whether an array comes next.
  public mutating func isArray() throws -> Bool {
    try peek() == UInt8(ascii: "[")
  }

  /// Whether a number comes next.
  public mutating func isNumber() throws -> Bool {
    try peek().map(Self.isOfNumber) ?? false
  }

  /// Whether an object comes next.
  public mutating func isObject() throws -> Bool {
    try peek() == UInt8(ascii: "{")
  }

  /// Reads a value of any kind, and drops it.
  public mutating func skip() throws {
    switch try peek() {
    case UInt8(ascii: "{"): try skipObject()
    case UInt8(ascii: "["): try array { try $0.skip() }
    case UInt8(ascii: "\""): try skipString()
    case UInt8(ascii: "t"), UInt8(ascii: "f"): _ = try boolean()
    case UInt8(ascii: "n"): _ = try null()
    default: _ = try numeral()
    }
  }

  /// Reads an object, and keeps not even its names.
  private mutating func skipObject() throws {
    try open("{")
    guard try !takes("}") else { return close() }
    repeat {
      let place = try beginningOfValue()
      try skipString()
      guard offset - place - 2 <= Self.longestName else {
        throw JSONError("too long a name", at: place)
      }
      try expect(":")
      try skip()
    } while try continues(to: "}")
    close()
  }

  /// Makes sure that nothing follows but white space.
  public mutating func end() throws {
    if try peek() != nil { throw JSONError("text after the document", at: offset) }
  }

  // MARK: - Tokens

  private mutating func open(_ bracket: Unicode.Scalar) throws {
    try expect(bracket)
    depth += 1
    guard depth <= deepest else { throw JSONError("too deep", at: offset) }
  }

  private mutating func close() {
    depth -= 1
  }

  /// Takes the comma after an element, or the bracket that ends all.
  private mutating func continues(to bracket: Unicode.Scalar) throws -> Bool {
    if try takes(bracket) { return false }
    try expect(",")
    return true
  }

  private mutating func takes(_ scalar: Unicode.Scalar) throws -> Bool {
    guard try peek() == UInt8(ascii: scalar) else { return false }
    index += 1
    return true
  }

  /// Takes a character that must come next, after white space.
  mutating func expect(_ scalar: Unicode.Scalar) throws {
    guard try takes(scalar) else { throw JSONError("no '\(scalar)'", at: offset) }
  }

  private mutating func word(_ word: StaticString) throws {
    let place = offset
    for scalar in word.description.unicodeScalars {
      guard try byte() == UInt8(ascii: scalar) else { throw JSONError("no \(word)", at: place) }
    }
  }

  /// The next byte that is no white space, which is not taken; `nil` at the end.
  mutating func peek() throws -> UInt8? {
    while let byte = try current() {
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
      index += 1
    }
    return nil
  }

  /// The byte at the place of the reader; `nil` at the end.
  mutating func current() throws -> UInt8? {
    if index < buffer.count { return buffer[index] }
    consumed += index
    (buffer, index) = (try refill(), 0)
    return buffer.first
  }

  /// Takes the byte at the place of the reader.
  mutating func byte() throws -> UInt8 {
    guard let byte = try current() else { throw JSONError("an early end", at: offset) }
    index += 1
    return byte
  }

  /// Takes the bytes that stand in a string as they are, from the buffer only.
  ///
  /// - Returns: Where they are in the buffer.
  mutating func plainRun() -> Range<Int> {
    let run = index..<Self.endOfPlainRun(buffer.span, from: index)
    index = run.upperBound
    return run
  }

  private static func endOfPlainRun(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var end = start
    while end < bytes.count {
      let byte = bytes[end]
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { break }
      end += 1
    }
    return end
  }

  /// Takes the rest of a string, with its end, if it is in the buffer as it is.
  ///
  /// - Returns: Where its text is in the buffer; `nil` if it has escapes, or is not all there, and nothing is
  ///   taken.
  mutating func plainString() -> Range<Int>? {
    let run = index..<Self.endOfPlainRun(buffer.span, from: index)
    guard run.upperBound < buffer.count, buffer[run.upperBound] == UInt8(ascii: "\"") else {
      return nil
    }
    index = run.upperBound + 1
    return run
  }

  /// A copy of bytes of the buffer.
  func text(_ range: Range<Int>) -> [UInt8] { Array(buffer[range]) }

  /// Appends bytes of the buffer to a text.
  func append(_ range: Range<Int>, to text: inout [UInt8]) {
    text.append(contentsOf: buffer[range])
  }
}
