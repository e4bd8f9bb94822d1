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
