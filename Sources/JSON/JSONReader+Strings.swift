import Bytes

extension JSONReader {
  /// Reads a string as UTF-8.
  ///
  /// An unpaired surrogate, which some writers produce, becomes U+FFFD.
  public mutating func string() throws -> [UInt8] {
    try beginString()
    if let run = plainString() { return text(run) }
    var text: [UInt8] = []
    while try continueString(into: &text) {}
    return text
  }

  /// Skips a string.
  mutating func skipString() throws {
    try beginString()
    if plainString() != nil { return }
    var text: [UInt8] = []
    // A skipped string is decoded too, because that is what finds its errors.
    while try continueString(into: &text) { text.removeAll(keepingCapacity: true) }
  }

  /// Skips a string that was read before, without reading it.
  ///
  /// - Parameter end: The offset after its closing quote.
  /// - Throws: ``JSONError`` if there is no quote.
  public mutating func skipString(endingAt end: Int) throws {
    move(to: end - 1)
    try expect("\"")
  }

  /// Reads the opening quote of a string; ``continueString(into:)`` reads the rest.
  public mutating func beginString() throws {
    try expect("\"")
    heldUnit = nil
  }

  /// Appends the next part of a string, at most what the buffer contains.
  ///
  /// - Returns: `false` at the end of the string.
  public mutating func continueString(into text: inout [UInt8]) throws -> Bool {
    // A HAR document contains each body as one string, of hundreds of megabytes at worst. So a
    // string is returned in parts, and never needs to be in memory as a whole.
    if let unit = heldUnit.take() {
      try finishUnicodeEscape(unit, into: &text)
      return true
    }
    append(plainRun(), to: &text)
    guard let next = try current() else { throw JSONError("unexpected end", at: offset) }
    switch next {
    case UInt8(ascii: "\""):
      _ = try byte()
      return false
    case UInt8(ascii: "\\"):
      _ = try byte()
      try escape(into: &text)
    // RFC 8259 §7 requires that control characters are escaped.
    case 0..<0x20: throw JSONError("unescaped control character in a string", at: offset)
    default: break
    }
    return true
  }

  /// Reads the rest of an escape, after its backslash.
  private mutating func escape(into text: inout [UInt8]) throws {
    let place = offset
    switch try byte() {
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "u"): try unicodeEscape(into: &text)
    case let byte
    where byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
      || byte == UInt8(ascii: "/"):
      text.append(byte)
    default: throw JSONError("unknown escape", at: place)
    }
  }

  private mutating func unicodeEscape(into text: inout [UInt8]) throws {
    try finishUnicodeEscape(codeUnit(), into: &text)
  }

  /// Appends the scalar of a UTF-16 code unit, or of a surrogate pair whose second half follows.
  private mutating func finishUnicodeEscape(_ unit: UInt32, into text: inout [UInt8]) throws {
    // Only a high surrogate needs a second unit.
    guard unit & 0xFC00 == 0xD800 else { return Self.append(unit, to: &text) }
    guard try current() == UInt8(ascii: "\\") else {
      // What a lone surrogate means is left open (RFC 8259 §8.2). Strings of JavaScript can contain
      // one and UTF-8 cannot, and a document is not refused for a single character.
      text += UTF8.encodedReplacementCharacter
      return
    }
    _ = try byte()
    guard try current() == UInt8(ascii: "u") else {
      text += UTF8.encodedReplacementCharacter
      return try escape(into: &text)
    }
    _ = try byte()
    let second = try codeUnit()
    if second & 0xFC00 == 0xDC00 {
      return Self.append(0x10000 + (unit & 0x3FF) << 10 + second & 0x3FF, to: &text)
    }
    text += UTF8.encodedReplacementCharacter
    // The second unit may itself begin a pair, so the next call continues with it.
    heldUnit = second
  }

  private mutating func codeUnit() throws -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      let place = offset
      // One digit at a time, as `UInt32.init(_:radix:)` would accept a sign before the digits.
      guard let digit = Base16.value(of: try byte()) else {
        throw JSONError("expected a hexadecimal digit", at: place)
      }
      unit = unit << 4 | UInt32(digit)
    }
    return unit
  }

  private static func append(_ scalar: UInt32, to text: inout [UInt8]) {
    text += Unicode.Scalar(scalar).flatMap { UTF8.encode($0) } ?? UTF8.encodedReplacementCharacter
  }
}

/// Whether a name that was read is this literal: lets a `switch` compare names without an allocation.
public func ~= (name: StaticString, bytes: [UInt8]) -> Bool {
  // The lengths differ for nearly all names, and are compared first because they are known without
  // looking at the bytes.
  name.utf8CodeUnitCount == bytes.count && name.description.utf8.elementsEqual(bytes)
}
