import Bytes

/// The properties of a word in a URL, judged by its bytes alone.
struct VersionText {
  let bytes: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
  }

  var digits: Int { bytes.count(where: \.isASCIIDigit) }
  var capitals: Int { bytes.count { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) } }
  var smallLetters: Int { bytes.count { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) } }
  var letters: Int { capitals + smallLetters }
  var isNumber: Bool { !bytes.isEmpty && digits == bytes.count }

  static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    byte.isASCIIDigit || byte.isASCIILetter
  }

  /// The value, if all characters are digits; limited to 18 digits, which fit into 64 bits.
  var number: Int64? {
    guard isNumber, bytes.count <= 18 else { return nil }
    return bytes.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
  }

  /// Whether the text consists of hexadecimal digits in one case, both letters and digits: neither word nor number.
  var isHexadecimal: Bool {
    guard digits > 0, letters > 0, capitals == 0 || smallLetters == 0 else { return false }
    return bytes.allSatisfy {
      $0.isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0.asciiLowercased)
    }
  }

  /// Whether the text consists of Base64 characters for URLs (RFC 4648 §5).
  var isBase64URL: Bool {
    bytes.allSatisfy {
      Self.isLetterOrDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
    }
  }

  /// Whether the text is a date from 1990 to 2049, such as `20230131`, optionally followed by a time.
  var isDay: Bool {
    guard [8, 12, 14].contains(bytes.count), isNumber else { return false }
    func part(_ start: Int, _ length: Int) -> Int64 {
      VersionText(bytes.dropFirst(start).prefix(length)).number ?? 0
    }
    return (1990...2049).contains(part(0, 4)) && (1...12).contains(part(4, 2))
      && (1...31).contains(part(6, 2))
  }

  /// Whether the text is a timestamp from 2008 to 2033, in seconds or milliseconds since 1970.
  var isMoment: Bool {
    guard let number else { return false }
    let range: ClosedRange<Int64> = 1_200_000_000...1_999_999_999
    return range.contains(bytes.count == 13 ? number / 1_000 : number)
  }

  /// Whether the text is `v` and a number of at most four digits.
  var isNumberedVersion: Bool {
    (2...5).contains(bytes.count) && bytes.first?.asciiLowercased == UInt8(ascii: "v")
      && VersionText(bytes.dropFirst()).isNumber
  }

  /// Whether the text is the size or scale of an image: `300x200`, `2x`, `640w`, `16px`, `1080p`.
  var isSize: Bool {
    let unit = bytes.drop(while: \.isASCIIDigit)
    guard unit.startIndex > bytes.startIndex, let first = unit.first else { return false }
    let rest = unit.dropFirst()
    switch first.asciiLowercased {
    case UInt8(ascii: "x"): return rest.allSatisfy(\.isASCIIDigit)
    case UInt8(ascii: "w"), UInt8(ascii: "h"): return rest.isEmpty
    case UInt8(ascii: "p"): return rest.isEmpty || rest.elementsEqual([UInt8(ascii: "x")])
    default: return false
    }
  }

  /// Whether a Base64 text of eight characters looks random, unlike words that people write.
  ///
  /// - Parameter allowsOneCase: Whether letters of one case are enough.
  func looksRandom(allowsOneCase: Bool) -> Bool {
    guard !isMadeOfWords else { return false }
    if capitals > 0, smallLetters > 0 { return true }
    guard allowsOneCase, letters + digits == bytes.count, letters > 0 else { return false }
    if smallLetters > 0 { return digits > 0 && changesOfKind >= 3 }
    return digits > 0 || longestRunOfConsonants >= 4
  }

  /// The number of changes between letters and digits.
  private var changesOfKind: Int {
    zip(bytes, bytes.dropFirst()).count { $0.isASCIIDigit != $1.isASCIIDigit }
  }

  private static func isVowel(_ byte: UInt8) -> Bool {
    "aeiouy".utf8.contains(byte.asciiLowercased)
  }

  private var longestRunOfConsonants: Int {
    var (run, longest) = (0, 0)
    for byte in bytes {
      run = byte.isASCIIDigit || Self.isVowel(byte) ? 0 : run + 1
      longest = max(longest, run)
    }
    return longest
  }

  /// Whether the text consists of numbers, words and words with a number, such as `DataGrid`, `icon_128` and `HTML5`.
  private var isMadeOfWords: Bool {
    bytes.split { !Self.isLetterOrDigit($0) }.allSatisfy { part in
      let word = part.prefix { !$0.isASCIIDigit }
      return part[word.endIndex...].allSatisfy(\.isASCIIDigit) && Self.areWords(word)
    }
  }

  /// Whether letters are CamelCase words, or empty.
  private static func areWords(_ letters: ArraySlice<UInt8>) -> Bool {
    var rest = letters
    func isCapital(_ byte: UInt8) -> Bool { byte < UInt8(ascii: "a") }
    while let first = rest.first {
      let capitals = rest.prefix(while: isCapital)
      if capitals.count >= 2 {
        // The last capital begins the next word, if there is one.
        let isLast = capitals.endIndex == rest.endIndex
        rest = rest[(isLast ? capitals.endIndex : capitals.endIndex - 1)...]
        if isLast || capitals.count > 2 { continue }
        return false
      }
      let small = rest.dropFirst(isCapital(first) ? 1 : 0).prefix { !isCapital($0) }
      let word = rest[..<small.endIndex]
      guard word.count >= 2, word.contains(where: Self.isVowel) else { return false }
      rest = rest[small.endIndex...]
    }
    return true
  }
}
