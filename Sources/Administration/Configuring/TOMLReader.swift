import Bytes

/// A reader for the part of TOML 1.0 that configuration files need: everything except dates, floats, and integers that
/// are not decimal.
///
/// Documents that it accepts mean the same as in TOML; each value has its place.
public struct TOMLReader {
  /// The maximum size of a document, in bytes.
  public static let mostBytes = 1 << 20
  // TOML itself has no limit. The Swift library that was tried accepted a header of 100,000 parts,
  // and had used up the memory a minute later.
  /// The maximum number of parts of a key, and the maximum nesting of values; protects the stack.
  static let mostDepth = 16

  let bytes: [UInt8]
  var position = 0
  var depth = 0

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Reads a document.
  public static func read(_ bytes: [UInt8]) throws(TOMLError) -> TOMLTable {
    guard bytes.count <= mostBytes else {
      throw TOMLError("the file is larger than 1 MiB", at: 0..<0)
    }
    // TOML is UTF-8 without control characters. Refusing them first also keeps escape sequences out
    // of error messages, which quote the file.
    if let place = firstByteThatIsNoText(bytes) {
      throw TOMLError(
        "invalid UTF-8 or a control character", at: place..<(place + 1))
    }
    var reader = TOMLReader(bytes)
    // Some editors write a byte order mark.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.position = 3 }
    return try reader.document()
  }

  private mutating func document() throws(TOMLError) -> TOMLTable {
    let root = TOMLNode(.table(.declared), at: 0..<0)
    var (table, section) = (root, 0)
    while true {
      skipBlanksAndLines()
      guard position < bytes.count else { return root.table }
      if bytes[position] == UInt8(ascii: "[") {
        section += 1
        table = try header(in: root)
      } else {
        let path = try key()
        try expect("=", "expected '=' after the key")
        skipBlanks()
        try table.set(path, try value(), section: section)
      }
      try endOfLine()
    }
  }

  private mutating func header(in root: TOMLNode) throws(TOMLError) -> TOMLNode {
    position += 1
    let isArray = consume("[")
    let path = try key()
    try expect("]", "expected ']' at the end of the header")
    guard isArray else { return try root.declare(path) }
    guard consume("]") else { throw failure("expected ']]' at the end of the header") }
    return try root.append(path)
  }

  /// Reads a key, possibly dotted, with the whitespace around it.
  mutating func key() throws(TOMLError) -> [TOMLKey] {
    var path: [TOMLKey] = []
    repeat {
      guard path.count < Self.mostDepth else {
        throw failure("the key has more than \(Self.mostDepth) parts")
      }
      skipBlanks()
      path.append(try simpleKey())
      skipBlanks()
    } while consume(".")
    return path
  }

  private mutating func simpleKey() throws(TOMLError) -> TOMLKey {
    let start = position
    switch bytes.indices.contains(position) ? bytes[position] : 0 {
    case UInt8(ascii: "\""), UInt8(ascii: "'"):
      let name = try quoted()
      return TOMLKey(name: ByteString(name), range: start..<position)
    default:
      while position < bytes.count, Self.isOfBareKey(bytes[position]) { position += 1 }
      guard position > start else { throw failure("expected a key") }
      return TOMLKey(name: ByteString(Array(bytes[start..<position])), range: start..<position)
    }
  }

  private mutating func endOfLine() throws(TOMLError) {
    skipBlanks()
    skipComment()
    guard position >= bytes.count || consumeLine() else {
      throw failure("expected the end of the line")
    }
  }
}

extension TOMLReader {
  /// Returns an error at the current position: the character there, or the end of the file.
  func failure(_ reason: String) -> TOMLError {
    guard position < bytes.count, bytes[position] != UInt8(ascii: "\n") else {
      return TOMLError(reason, at: position..<position)
    }
    var end = position + 1
    while end < bytes.count, bytes[end] & 0xC0 == 0x80 { end += 1 }
    return TOMLError(reason, at: position..<end)
  }

  /// Consumes a character if it is at the current position.
  mutating func consume(_ sign: Unicode.Scalar) -> Bool {
    guard position < bytes.count, UInt32(bytes[position]) == sign.value else { return false }
    position += 1
    return true
  }

  mutating func expect(_ sign: Unicode.Scalar, _ reason: String) throws(TOMLError) {
    skipBlanks()
    guard consume(sign) else { throw failure(reason) }
  }

  mutating func skipBlanks() {
    while position < bytes.count, bytes[position] == 0x20 || bytes[position] == 0x09 {
      position += 1
    }
  }

  mutating func skipBlanksAndLines() {
    repeat {
      skipBlanks()
      skipComment()
    } while consumeLine()
  }

  mutating func skipComment() {
    guard position < bytes.count, bytes[position] == UInt8(ascii: "#") else { return }
    while position < bytes.count, !isAtLine { position += 1 }
  }

  /// Consumes a line break.
  mutating func consumeLine() -> Bool {
    guard isAtLine else { return false }
    position += bytes[position] == UInt8(ascii: "\r") ? 2 : 1
    return true
  }

  /// Whether there is a line break at the current position; a lone carriage return is none.
  private var isAtLine: Bool {
    guard position < bytes.count else { return false }
    if bytes[position] == UInt8(ascii: "\n") { return true }
    return bytes[position] == UInt8(ascii: "\r")
      && bytes[(position + 1)...].first == UInt8(ascii: "\n")
  }

  static func isOfBareKey(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  /// Returns the position of the first byte that is not allowed in a document.
  private static func firstByteThatIsNoText(_ bytes: [UInt8]) -> Int? {
    var rest = bytes[...]
    while let byte = rest.first {
      let place = rest.startIndex
      let next = rest.dropFirst().first
      switch byte {
      case 0x09, 0x0A, 0x20...0x7E: rest = rest.dropFirst()
      // A lone carriage return is a control character in TOML. On a terminal, it would hide the
      // text before it.
      case 0x0D where next == 0x0A: rest = rest.dropFirst()
      case 0xC2...0xF4:
        let (scalar, length) = rest.scalar(at: place)
        guard scalar != nil else { return place }
        rest = rest.dropFirst(length)
      default: return place
      }
    }
    return nil
  }
}
