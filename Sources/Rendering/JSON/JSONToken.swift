import Bytes

/// The state of a number, string or literal of JSON (RFC 8259) that has been read in part.
enum JSONToken: Hashable, Sendable {
  case number(Number)
  case string(String, isKey: Bool)
  /// A literal, with the bytes that must follow.
  case word(ArraySlice<UInt8>)

  /// Begins a value that is neither an array nor an object; `nil` if no such value begins with `byte`.
  init?(beginningWith byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""): self = .string(.text, isKey: false)
    case UInt8(ascii: "-"): self = .number(.sign)
    case UInt8(ascii: "0"): self = .number(.zero)
    case UInt8(ascii: "1")...UInt8(ascii: "9"): self = .number(.integer)
    case UInt8(ascii: "t"): self = .word(Array("rue".utf8)[...])
    case UInt8(ascii: "f"): self = .word(Array("alse".utf8)[...])
    case UInt8(ascii: "n"): self = .word(Array("ull".utf8)[...])
    default: return nil
    }
  }

  /// The kind of the last byte of a number.
  enum Number: Hashable, Sendable {
    case sign
    case zero
    case integer
    case point
    case fraction
    case exponentLetter
    case exponentSign
    case exponent

    /// The state after one more byte; `nil` if the byte cannot follow.
    func followed(by byte: UInt8) -> Number? {
      let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      switch self {
      case .sign: return byte == UInt8(ascii: "0") ? .zero : isDigit ? .integer : nil
      case .integer where isDigit: return .integer
      case .zero, .integer: return byte == UInt8(ascii: ".") ? .point : Self.exponentLetter(byte)
      case .point: return isDigit ? .fraction : nil
      case .fraction: return isDigit ? .fraction : Self.exponentLetter(byte)
      case .exponentLetter:
        let isSign = byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
        return isSign ? .exponentSign : isDigit ? .exponent : nil
      case .exponentSign, .exponent: return isDigit ? .exponent : nil
      }
    }

    /// Whether the number is complete.
    var isWhole: Bool {
      switch self {
      case .zero, .integer, .fraction, .exponent: true
      case .sign, .point, .exponentLetter, .exponentSign: false
      }
    }

    private static func exponentLetter(_ byte: UInt8) -> Number? {
      byte | 0x20 == UInt8(ascii: "e") ? .exponentLetter : nil
    }
  }

  /// What must follow in a string.
  enum String: Hashable, Sendable {
    case text
    case escape
    /// Hexadecimal digits after `\u`.
    case digits(Int)
    /// The remaining bytes of a UTF-8 sequence, and the range of the next byte.
    case continuation(Int, ClosedRange<UInt8>)
    case end

    /// The state after one more byte; `nil` if the byte cannot follow or is not valid UTF-8.
    func followed(by byte: UInt8) -> String? {
      switch self {
      case .text: return Self.followingText(byte)
      case .escape:
        if byte == UInt8(ascii: "u") { return .digits(4) }
        return "\"\\/bfnrt".utf8.contains(byte) ? .text : nil
      case .digits(let count):
        guard Base16.value(of: byte) != nil else { return nil }
        return count == 1 ? .text : .digits(count - 1)
      case .continuation(let count, let range):
        guard range.contains(byte) else { return nil }
        return count == 1 ? .text : .continuation(count - 1, 0x80...0xBF)
      case .end: return nil
      }
    }

    private static func followingText(_ byte: UInt8) -> String? {
      switch byte {
      case UInt8(ascii: "\""): .end
      case UInt8(ascii: "\\"): .escape
      // RFC 8259 §7 forbids control characters in strings, and a raw line feed would break a
      // line-based reader.
      case 0x20..<0x80: .text
      case 0xC2...0xDF: .continuation(1, 0x80...0xBF)
      // These ranges exclude overlong forms, surrogates and values beyond U+10FFFF (RFC 3629 §4).
      case 0xE0: .continuation(2, 0xA0...0xBF)
      case 0xED: .continuation(2, 0x80...0x9F)
      case 0xE1...0xEF: .continuation(2, 0x80...0xBF)
      case 0xF0: .continuation(3, 0x90...0xBF)
      case 0xF1...0xF3: .continuation(3, 0x80...0xBF)
      case 0xF4: .continuation(3, 0x80...0x8F)
      default: nil
      }
    }
  }
}
