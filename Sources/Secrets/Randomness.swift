import Bytes

/// Whether text looks as if it was made by a random generator and not by people.
public enum Randomness {
  /// The least number of bytes of a random value.
  public static let leastBytes = 16

  /// Whether a value looks random: long enough, of the characters of tokens, without words, and with few repetitions.
  static func looksRandom(_ value: ArraySlice<UInt8>) -> Bool {
    guard (leastBytes...SecretMatch.mostBytes).contains(value.count) else { return false }
    var counts = [Int](repeating: 0, count: 256)
    var isHexadecimal = true
    for byte in value {
      guard byte.isOfToken else { return false }
      counts[Int(byte)] += 1
      if Base16.value(of: byte) == nil, byte != dash { isHexadecimal = false }
    }
    // How likely two of its characters are equal. Of random characters it is one in the size of their alphabet; of
    // text about one in 15.
    let equals = counts.reduce(0) { $0 + $1 * $1 }
    let limit = isHexadecimal ? 6 : value.count < 20 ? 9 : 11
    return equals * limit <= value.count * value.count && hasRandomPart(value, isHexadecimal)
  }

  /// Whether a part between separators is no word and no number.
  private static func hasRandomPart(_ value: ArraySlice<UInt8>, _ isHexadecimal: Bool) -> Bool {
    value.split { !$0.isASCIILetter && !$0.isASCIIDigit }.contains { part in
      guard part.count >= 8 else { return false }
      // The changes between small letters, capitals and digits: `iPhone12` has three, and a word none.
      var (changes, digits) = (0, 0)
      var last = kind(of: part[part.startIndex])
      for byte in part {
        let kind = kind(of: byte)
        if kind != last { changes += 1 }
        if kind == 2 { digits += 1 }
        last = kind
      }
      if isHexadecimal { return digits > 0 && digits < part.count && changes >= 2 }
      return digits > 0 && changes * 5 >= part.count
    }
  }

  private static func kind(of byte: UInt8) -> Int {
    byte.isASCIIDigit ? 2 : byte.asciiLowercased == byte ? 0 : 1
  }

  private static let dash = UInt8(ascii: "-")

  /// Whether a value has at least a number of different bytes: `xxxxxxxx` is a placeholder.
  static func hasDifferentBytes(_ value: ArraySlice<UInt8>, _ least: Int) -> Bool {
    var seen = Set<UInt8>()
    for byte in value {
      seen.insert(byte)
      if seen.count >= least { return true }
    }
    return false
  }

  /// Whether a value stands for one that is to be filled in, or is empty of meaning.
  static func isPlaceholder(_ value: ArraySlice<UInt8>) -> Bool {
    guard let first = value.first, hasDifferentBytes(value, 3) else { return true }
    if "<{[$%*(".utf8.contains(first), value.last.map({ !$0.isASCIILetter }) ?? true { return true }
    if value.starts(with: "REDACTED-".utf8) || value.starts(with: "${".utf8) { return true }
    let word = ByteString(value.prefix(24).map(\.asciiLowercased))
    return words.contains(word)
      || ["your", "example", "placeholder", "dummy", "insert"].contains { start in
        word.bytes.starts(with: start.utf8)
      } && !value.contains(where: \.isASCIIDigit)
  }

  private static let words: Set<ByteString> = [
    "true", "false", "null", "undefined", "none", "nil", "yes", "required", "optional", "string",
    "redacted", "[redacted]", "<redacted>", "deleted", "expired", "hidden", "masked", "filtered",
    "[filtered]", "anonymous", "guest", "default", "changeme", "password", "secret", "token",
  ]
}

extension UInt8 {
  /// Whether the byte can be in a token of any alphabet: Base64, Base64url, hexadecimal, or percent-escaped.
  var isOfToken: Bool {
    if isASCIILetter || isASCIIDigit { return true }
    switch self {
    case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "+"),
      UInt8(ascii: "/"), UInt8(ascii: "="), UInt8(ascii: "~"), UInt8(ascii: "%"), UInt8(ascii: "|"),
      UInt8(ascii: ":"), UInt8(ascii: "!"), UInt8(ascii: "*"):
      return true
    default: return false
    }
  }

  /// Whether the byte can be in a word: a letter, a digit or an underscore.
  var isOfWord: Bool { isASCIILetter || isASCIIDigit || self == UInt8(ascii: "_") }
}
