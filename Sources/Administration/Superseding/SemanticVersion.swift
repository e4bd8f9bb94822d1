import Bytes

/// Finds versions such as `3.2.1` and `2.0.0-rc.1` in text (Semantic Versioning 2.0.0).
enum SemanticVersion {
  // The words that pre-releases in package registries use. Any other word after a number is a part
  // of the name, as in `jquery-3.6.1.min.js`.
  private static let stages = [
    "alpha", "beta", "rc", "next", "canary", "dev", "pre", "preview", "snapshot",
  ].map { Array($0.utf8) }

  /// Returns the ranges of the versions in a text: three numbers, and the stage of a pre-release.
  ///
  /// A version follows `-`, `_`, `.`, `@` or the beginning, with or without `v`. Four numbers are an address, and three
  /// numbers that start with a year are a date, unless they follow `@`.
  static func ranges(in text: ArraySlice<UInt8>) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var place = text.startIndex
    while place < text.endIndex {
      guard text[place].isASCIIDigit, let mark = before(place, in: text),
        let end = end(ofVersionAt: place, in: text),
        mark == UInt8(ascii: "@") || !isDay(text[place..<end])
      else {
        place += 1
        continue
      }
      ranges.append(place..<end)
      place = end
    }
    return ranges
  }

  /// Returns the delimiter before a number, 0 at the beginning; `nil` if there is none.
  private static func before(_ place: Int, in text: ArraySlice<UInt8>) -> UInt8? {
    guard place > text.startIndex else { return 0 }
    let byte = text[place - 1]
    if byte.asciiLowercased == UInt8(ascii: "v") {
      let isSecond =
        place - 1 > text.startIndex && text[place - 2].asciiLowercased == byte.asciiLowercased
      return isSecond ? nil : before(place - 1, in: text)
    }
    guard "-_.@".utf8.contains(byte) else { return nil }
    // The last three of four numbers are no version.
    guard byte == UInt8(ascii: ".") else { return byte }
    let word = text[..<(place - 1)].suffix(6).reversed().prefix(while: VersionText.isLetterOrDigit)
    return !word.isEmpty && word.allSatisfy(\.isASCIIDigit) ? nil : byte
  }

  private static func end(ofVersionAt start: Int, in text: ArraySlice<UInt8>) -> Int? {
    var place = start
    for part in 0..<3 {
      if part > 0 {
        guard place < text.endIndex, text[place] == UInt8(ascii: ".") else { return nil }
        place += 1
      }
      let number = text[place...].prefix(6).prefix(while: \.isASCIIDigit)
      guard (1...5).contains(number.count) else { return nil }
      place = number.endIndex
    }
    guard place < text.endIndex else { return place }
    guard "-_.+".utf8.contains(text[place]) else { return nil }
    if text[place] == UInt8(ascii: "."), place + 1 < text.endIndex,
      text[place + 1].isASCIIDigit
    {
      return nil
    }
    return endOfStage(at: place, in: text)
  }

  /// Returns the end of the pre-release stage that begins at `start`; `start` if there is none.
  private static func endOfStage(at start: Int, in text: ArraySlice<UInt8>) -> Int {
    let rest = text[(start + 1)...]
    let word = rest.prefix { VersionText.isLetterOrDigit($0) && !$0.isASCIIDigit }
    guard stages.contains(where: { $0.elementsEqual(word.map(\.asciiLowercased)) }) else {
      return start
    }
    let dot = text[word.endIndex...].prefix(1).prefix {
      $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")
    }
    let number = text[dot.endIndex...].prefix(while: \.isASCIIDigit)
    return number.isEmpty ? word.endIndex : number.endIndex
  }

  private static func isDay(_ version: ArraySlice<UInt8>) -> Bool {
    let numbers = version.split(separator: UInt8(ascii: ".")).map { VersionText($0).number ?? 0 }
    return (1900...2100).contains(numbers[0])
  }
}
