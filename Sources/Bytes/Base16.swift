/// Hexadecimal digits, two for each byte (RFC 4648 §8).
public enum Base16 {
  /// The case of the digits above 9.
  public enum Letters: Sendable {
    /// `a` to `f`.
    case small
    /// `A` to `F`.
    case capital
  }

  /// The digit for the low four bits of a byte.
  @inlinable
  public static func digit(_ value: UInt8, _ letters: Letters = .small) -> UInt8 {
    let value = value & 15
    if value < 10 { return UInt8(ascii: "0") + value }
    return (letters == .small ? UInt8(ascii: "a") : UInt8(ascii: "A")) - 10 + value
  }

  /// The value of a digit of either case, or `nil` if the byte is not a digit.
  @inlinable
  public static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// Returns the bytes as hexadecimal digits.
  public static func encode(_ bytes: [UInt8], _ letters: Letters = .small) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      text.append(digit(byte >> 4, letters))
      text.append(digit(byte, letters))
    }
    return text
  }

  /// Decodes digits of either case; `nil` if there is another byte or an odd number of digits.
  public static func decode(_ text: [UInt8]) -> [UInt8]? {
    // An odd number of digits is the mark of a text that was cut off, and padding it would give
    // another digest.
    guard text.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 2)
    for index in stride(from: 0, to: text.count, by: 2) {
      guard let high = value(of: text[index]), let low = value(of: text[index + 1]) else {
        return nil
      }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  /// Returns the text of a UUID of 16 bytes (RFC 9562 §4): 8-4-4-4-12 digits.
  public static func uuid(_ bytes: [UInt8], _ letters: Letters = .small) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(36)
    for (index, byte) in bytes.enumerated() {
      if index == 4 || index == 6 || index == 8 || index == 10 { text.append(UInt8(ascii: "-")) }
      text.append(digit(byte >> 4, letters))
      text.append(digit(byte, letters))
    }
    return text
  }
}
