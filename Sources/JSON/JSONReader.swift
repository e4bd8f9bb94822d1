/// A pull parser for JSON (RFC 8259), which reads one value at a time, as the caller asks for them.
///
/// The reader keeps nothing that it has read and allocates only what it returns, so a document may be larger than
/// memory. Skipped values are validated too: text after the document, an extra comma or a leading zero is an error with
/// its offset.
public struct JSONReader {
  /// The longest member name, in bytes: a limit on the memory that hostile input can take.
  private static let longestName = 1 << 20

  private let deepest: Int
  private let refill: (_ offset: Int) throws -> [UInt8]
  private var buffer: [UInt8] = []
  private var index = 0
  private var consumed = 0
  private var depth = 0

  /// The first half of a surrogate pair, if it was read and the string continues.
  var heldUnit: UInt32?

  /// Creates a reader.
  ///
  /// - Parameters:
  ///   - offset: The ``offset`` of the first byte.
  ///   - deepest: The maximum nesting depth of arrays and objects. It bounds the recursion, and so the stack.
  ///   - refill: Returns bytes of the document from an offset on; an empty array at the end.
  public init(
    startingAt offset: Int = 0, deepest: Int = 64,
    reading refill: @escaping (_ offset: Int) throws -> [UInt8]
  ) {
    // The bodies of a HAR file are not kept. They are read a second time when they are needed, each
    // from its own offset, and errors still name the place in the whole file.
    consumed = offset
    self.deepest = deepest
    self.refill = refill
  }

  /// Creates a reader for bytes in memory.
  public init(_ bytes: [UInt8]) {
    deepest = 64
    refill = { _ in [] }
    buffer = bytes
  }

  /// The number of bytes read so far.
  public var offset: Int { consumed + index }

  /// Continues at another offset, inside the current value or between two values. Open arrays and objects stay open.
  public mutating func move(to offset: Int) {
    if offset >= consumed, offset <= consumed + buffer.count {
      index = offset - consumed
    } else {
      (buffer, index, consumed) = ([], 0, offset)
    }
  }

  // MARK: - Values

  /// Reads an object and calls `member` with each name. `member` must read the value.
  ///
  /// - Throws: ``JSONError``, or any error from `member`.
  public mutating func object(_ member: (inout JSONReader, _ name: [UInt8]) throws -> Void) throws {
    try open("{")
    guard try !takes("}") else { return close() }
    repeat {
      // A name may come twice, which means different things to different programs (RFC 8259 §4). So
      // each is passed on, and callers for which it matters refuse the second.
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
      guard run.count <= Self.longestName else {
        throw JSONError("the name is too long", at: place)
      }
      return text(run)
    }
    // The length is checked after each part, so a name without end stops at the limit and not when
    // memory is used up.
    while try continueString(into: &name) {
      guard name.count <= Self.longestName else {
        throw JSONError("the name is too long", at: place)
      }
    }
    return name
  }

  /// Reads an array and calls `element` for each element. `element` must read the value.
  ///
  /// - Throws: ``JSONError``, or any error from `element`.
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

  /// Reads `null` if it comes next.
  ///
  /// - Returns: Whether the next value was `null`.
  public mutating func null() throws -> Bool {
    guard try peek() == UInt8(ascii: "n") else { return false }
    try word("null")
    return true
  }

  /// Whether a string comes next.
  public mutating func isString() throws -> Bool {
    try peek() == UInt8(ascii: "\"")
  }

  /// Moves to the beginning of the next value and returns its offset.
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

  /// Skips a value of any kind.
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

  /// Skips an object without keeping its names.
  private mutating func skipObject() throws {
    try open("{")
    guard try !takes("}") else { return close() }
    repeat {
      let place = try beginningOfValue()
      try skipString()
      // The same limit as for reading, so that it does not depend on what is skipped; minus 2 for
      // the quotes. Escapes count as they are written, so a name of many is too long here first.
      guard offset - place - 2 <= Self.longestName else {
        throw JSONError("the name is too long", at: place)
      }
      try expect(":")
      try skip()
    } while try continues(to: "}")
    close()
  }

  /// Checks that only white space follows.
  // Otherwise, one program could read the first of two documents, and another one the last.
  public mutating func end() throws {
    if try peek() != nil { throw JSONError("unexpected text after the document", at: offset) }
  }

  // MARK: - Tokens

  private mutating func open(_ bracket: Unicode.Scalar) throws {
    try expect(bracket)
    depth += 1
    // Each level is a level of recursion, so the depth must be bounded.
    guard depth <= deepest else { throw JSONError("nested too deeply", at: offset) }
  }

  private mutating func close() {
    depth -= 1
  }

  /// Reads the comma after an element, or the closing bracket.
  private mutating func continues(to bracket: Unicode.Scalar) throws -> Bool {
    // After a comma, another element must come. Foundation's `JSONSerialization` accepts `[1,]`,
    // which is not JSON.
    if try takes(bracket) { return false }
    try expect(",")
    return true
  }

  private mutating func takes(_ scalar: Unicode.Scalar) throws -> Bool {
    guard try peek() == UInt8(ascii: scalar) else { return false }
    index += 1
    return true
  }

  /// Skips white space and reads the given character, which must come next.
  mutating func expect(_ scalar: Unicode.Scalar) throws {
    guard try takes(scalar) else { throw JSONError("expected '\(scalar)'", at: offset) }
  }

  private mutating func word(_ word: StaticString) throws {
    let place = offset
    for scalar in word.description.unicodeScalars {
      guard try byte() == UInt8(ascii: scalar) else {
        throw JSONError("expected '\(word)'", at: place)
      }
    }
  }

  /// Skips white space and returns the next byte without reading it; `nil` at the end.
  mutating func peek() throws -> UInt8? {
    while let byte = try current() {
      // Only these four are white space (RFC 8259 §2). The functions of the standard library would
      // also skip form feeds and no-break spaces.
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
      index += 1
    }
    return nil
  }

  /// The byte at the current position; `nil` at the end.
  mutating func current() throws -> UInt8? {
    if index < buffer.count { return buffer[index] }
    consumed += index
    // This happens again for each look beyond the end, so the closure must go on returning nothing.
    (buffer, index) = (try refill(consumed), 0)
    return buffer.first
  }

  /// Reads the byte at the current position.
  mutating func byte() throws -> UInt8 {
    guard let byte = try current() else { throw JSONError("unexpected end", at: offset) }
    index += 1
    return byte
  }

  /// Reads the bytes of a string that need no decoding, as far as the buffer goes.
  ///
  /// - Returns: Their range in the buffer.
  mutating func plainRun() -> Range<Int> {
    let run = index..<buffer.span.endOfPlainText(from: index)
    index = run.upperBound
    return run
  }

  /// Reads the rest of a string and its closing quote, if the buffer contains both and the string has no escapes.
  ///
  /// - Returns: The range of the text in the buffer, or `nil`, with nothing read.
  mutating func plainString() -> Range<Int>? {
    let run = index..<buffer.span.endOfPlainText(from: index)
    // Most strings are complete in the buffer, and can then be copied in one go.
    guard run.upperBound < buffer.count, buffer[run.upperBound] == UInt8(ascii: "\"") else {
      return nil
    }
    index = run.upperBound + 1
    return run
  }

  /// Returns a copy of a range of the buffer.
  func text(_ range: Range<Int>) -> [UInt8] { Array(buffer[range]) }

  /// Appends a range of the buffer to a text.
  func append(_ range: Range<Int>, to text: inout [UInt8]) {
    text.append(contentsOf: buffer[range])
  }
}

/// An error in a JSON document.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was found or what is missing, in a few words.
  public var fact: String

  /// The byte offset of the error from the beginning of the document.
  public var offset: Int

  /// Creates an error.
  public init(_ fact: String, at offset: Int) {
    self.fact = fact
    self.offset = offset
  }

  public var description: String { "\(fact) at byte \(offset)" }
}

// Numbers, by the grammar of RFC 8259 §6.

extension JSONReader {
  /// The longest number, in bytes. Real numbers are far shorter; without a limit, hostile input could fill the memory.
  private static let longestNumeral = 1_000

  /// Reads an integer.
  public mutating func integer() throws -> Int64 {
    let place = offset
    // `Int64` instead of `Double`: a `Double` would round integers beyond 2⁵³.
    guard let value = Int64(try numeral()) else {
      throw JSONError("the number is not a 64-bit integer", at: place)
    }
    return value
  }

  /// Reads a number as a `Double`; one that is not finite is an error.
  public mutating func number() throws -> Double {
    let place = offset
    // `1e999` is a number by the grammar, and `Double.init` returns infinity for it.
    guard let value = Double(try numeral()), value.isFinite else {
      throw JSONError("the number is too large", at: place)
    }
    return value
  }

  /// Reads a number as it is written.
  public mutating func numeral() throws -> String {
    guard try peek() != nil else { throw JSONError("unexpected end", at: offset) }
    let place = offset
    var text: [UInt8] = []
    // All bytes are collected before the grammar is checked, as the number may continue in the next
    // piece of the document.
    while let byte = try current(), Self.isOfNumber(byte) {
      text.append(try self.byte())
      guard text.count <= Self.longestNumeral else {
        throw JSONError("the number is too long", at: place)
      }
    }
    // `Double.init` and `Int64.init` would also accept `+1` and `01`, which JSON does not have.
    guard Self.isNumber(text) else { throw JSONError("expected a value", at: place) }
    // As text, because only the caller knows the type: archives have integers of 64 bits, which
    // would lose digits as a `Double`.
    return String(decoding: text, as: UTF8.self)
  }

  /// Whether a byte may be part of a number.
  static func isOfNumber(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"),
      UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
      true
    default: false
    }
  }

  /// Whether the text is a number in the grammar of RFC 8259 §6, which is stricter than `Double.init`.
  private static func isNumber(_ text: [UInt8]) -> Bool {
    var rest = text[...]
    func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
    func dropDigits() -> Bool {
      let count = rest.prefix(while: isDigit).count
      rest = rest.dropFirst(count)
      return count > 0
    }
    if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
    if rest.first == UInt8(ascii: "0") { rest.removeFirst() } else if !dropDigits() { return false }
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      guard dropDigits() else { return false }
    }
    if let byte = rest.first, byte | 0x20 == UInt8(ascii: "e") {
      rest.removeFirst()
      if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest.removeFirst() }
      guard dropDigits() else { return false }
    }
    return rest.isEmpty
  }
}
