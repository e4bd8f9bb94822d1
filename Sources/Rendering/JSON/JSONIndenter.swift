/// An error in text that should be JSON.
public struct JSONSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The offset of the first invalid byte.
  public let offset: Int64

  /// The reason: a clause without text from the cache.
  public let reason: String

  public var description: String { "\(reason) at byte \(offset)" }
}

/// Indents JSON (RFC 8259) that arrives in pieces: each value goes on its own line.
///
/// Only white space changes: numbers, strings and the order of members are preserved byte for byte. The memory in use
/// does not grow with the text, because a body may be larger than memory.
public struct JSONIndenter: Sendable {
  /// The maximum nesting depth. The indentation grows with it, so it also bounds the output.
  public static let deepestNesting = 512

  private enum Container {
    case array
    case object
  }

  /// What may come next.
  private enum Place: Hashable, Sendable {
    /// The beginning of the text, which may be a byte order mark.
    case start
    /// The rest of a byte order mark.
    case byteOrderMark(ArraySlice<UInt8>)
    case value
    case firstElement
    case firstKey
    case key
    case colon
    case separator
    case token(JSONToken)
    case end
  }

  private var place = Place.start
  private var containers: [Container] = []
  private var offset: Int64 = 0

  /// Creates an indenter for a new text.
  public init() {}

  /// Appends the next piece of the text, indented.
  ///
  /// - Complexity: O(*n*), where *n* is the number of appended bytes: at most ``deepestNesting`` times the size of the
  ///   piece, and the same again.
  public mutating func append(
    _ piece: ArraySlice<UInt8>, into text: inout TextBuffer
  ) throws(JSONSyntaxError) {
    var index = piece.startIndex
    while index < piece.endIndex {
      // Runs of plain characters need no state machine, which would take each byte separately.
      if case .token(.string(.text, _)) = place {
        let run = piece[index...].prefix { $0 >= 0x20 && $0 < 0x80 && $0 != 0x22 && $0 != 0x5C }
        text.append(contentsOf: run)
        offset += Int64(run.count)
        index = run.endIndex
        if index == piece.endIndex { return }
      }
      try consume(piece[index], into: &text)
      offset += 1
      index += 1
    }
  }

  /// Appends a long piece of the text, indented, in small parts: each byte can produce a kilobyte of indentation.
  ///
  /// - Parameter check: Called after each part; may empty the buffer.
  public mutating func append(
    all piece: ArraySlice<UInt8>, into text: inout TextBuffer,
    _ check: (inout TextBuffer) throws -> Void
  ) throws {
    var rest = piece
    while !rest.isEmpty {
      try append(rest.prefix(4_096), into: &text)
      rest = rest.dropFirst(4_096)
      try check(&text)
    }
  }

  /// Ends the text, and appends a line end.
  public mutating func finish(into text: inout TextBuffer) throws(JSONSyntaxError) {
    // A number at the top level is only complete at the end of the text.
    if case .token(.number(let number)) = place, number.isWhole { endValue() }
    // What was written so far cannot be taken back, so the error comes with the exit status.
    guard place == .end else { throw error("unexpected end") }
    text.append(UInt8(ascii: "\n"))
  }

  private mutating func consume(_ byte: UInt8, into text: inout TextBuffer) throws(JSONSyntaxError)
  {
    switch place {
    case .token(let token): try consume(byte, of: token, into: &text)
    case .byteOrderMark(let rest):
      guard byte == rest.first else { throw error("expected a value") }
      place = rest.count == 1 ? .value : .byteOrderMark(rest.dropFirst())
    // RFC 8259 §8.1 lets a parser ignore a byte order mark.
    case .start where byte == 0xEF: place = .byteOrderMark([0xBB, 0xBF])
    // White space of the input is dropped, and only that: numbers such as `1.0` and escapes such as
    // `\u0041` would change their meaning to some programs.
    case _ where byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09: break
    case .start, .value: try beginValue(byte, into: &text)
    case .firstElement:
      if byte == UInt8(ascii: "]") { return close(byte, into: &text) }
      breakLine(&text)
      try beginValue(byte, into: &text)
    case .firstKey:
      if byte == UInt8(ascii: "}") { return close(byte, into: &text) }
      try beginKey(byte, into: &text)
    case .key: try beginKey(byte, into: &text)
    case .colon:
      guard byte == UInt8(ascii: ":") else { throw error("expected a colon") }
      text.append(": ")
      place = .value
    case .separator: try takeSeparator(byte, into: &text)
    case .end: throw error("unexpected text after the value")
    }
  }

  private mutating func consume(
    _ byte: UInt8, of token: JSONToken, into text: inout TextBuffer
  ) throws(JSONSyntaxError) {
    switch token {
    case .string(let string, let isKey):
      guard let next = string.followed(by: byte) else { throw error("malformed string") }
      if next != .end {
        place = .token(.string(next, isKey: isKey))
      } else if isKey {
        place = .colon
      } else {
        endValue()
      }
    case .word(let rest):
      guard byte == rest.first else { throw error("expected a value") }
      if rest.count == 1 { endValue() } else { place = .token(.word(rest.dropFirst())) }
    case .number(let number):
      guard let next = number.followed(by: byte) else {
        // A number has no end of its own: the next byte belongs to what follows it.
        guard number.isWhole else { throw error("malformed number") }
        endValue()
        return try consume(byte, into: &text)
      }
      place = .token(.number(next))
    }
    text.append(byte)
  }

  private mutating func beginValue(
    _ byte: UInt8, into text: inout TextBuffer
  ) throws(JSONSyntaxError) {
    switch byte {
    case UInt8(ascii: "["): try open(.array, .firstElement)
    case UInt8(ascii: "{"): try open(.object, .firstKey)
    default:
      guard let token = JSONToken(beginningWith: byte) else { throw error("expected a value") }
      place = .token(token)
    }
    text.append(byte)
  }

  private mutating func beginKey(
    _ byte: UInt8, into text: inout TextBuffer
  ) throws(JSONSyntaxError) {
    guard byte == UInt8(ascii: "\"") else { throw error("expected a key") }
    breakLine(&text)
    text.append(byte)
    place = .token(.string(.text, isKey: true))
  }

  private mutating func takeSeparator(
    _ byte: UInt8, into text: inout TextBuffer
  ) throws(JSONSyntaxError) {
    switch (byte, containers.last) {
    case (UInt8(ascii: ","), .array?):
      text.append(byte)
      breakLine(&text)
      place = .value
    case (UInt8(ascii: ","), .object?):
      text.append(byte)
      place = .key
    case (UInt8(ascii: "]"), .array?), (UInt8(ascii: "}"), .object?):
      text.append(UInt8(ascii: "\n"))
      text.append(UInt8(ascii: " "), count: 2 * (containers.count - 1))
      close(byte, into: &text)
    default: throw error("expected a comma or a closing bracket")
    }
  }

  private mutating func open(_ container: Container, _ next: Place) throws(JSONSyntaxError) {
    // A body of nothing but brackets would otherwise give output that is quadratic in its size.
    guard containers.count < Self.deepestNesting else {
      throw error("nested more than \(Self.deepestNesting) levels deep")
    }
    containers.append(container)
    place = next
  }

  private mutating func close(_ byte: UInt8, into text: inout TextBuffer) {
    text.append(byte)
    containers.removeLast()
    endValue()
  }

  private mutating func endValue() {
    place = containers.isEmpty ? .end : .separator
  }

  private func breakLine(_ text: inout TextBuffer) {
    text.append(UInt8(ascii: "\n"))
    text.append(UInt8(ascii: " "), count: 2 * containers.count)
  }

  private func error(_ reason: String) -> JSONSyntaxError {
    JSONSyntaxError(offset: offset, reason: reason)
  }
}
