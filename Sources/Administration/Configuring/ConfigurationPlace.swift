/// A place in a configuration file.
public struct ConfigurationPlace: Hashable, Sendable {
  /// The path of the file.
  public let path: String
  /// The number of the line, starting at 1.
  public let line: Int
  /// The number of the first character in the line, starting at 1.
  public let column: Int
  /// The line, without its line break.
  public let text: String
  /// The bytes of the line that the place covers.
  public let range: Range<Int>

  /// Returns the place of a part of the quoted text at this place; the whole place if the text contains escapes.
  ///
  /// - Parameter part: The bytes of the text.
  public func place(of part: Range<Int>, in quoted: String) -> ConfigurationPlace {
    let line = Array(text.utf8)
    let inner = range.dropFirst().dropLast()
    guard !inner.isEmpty, inner.upperBound <= line.count, line[inner].elementsEqual(quoted.utf8)
    else { return self }
    let start = inner.lowerBound + part.lowerBound
    let before = line[..<min(start, line.count)].count { $0 & 0xC0 != 0x80 }
    return ConfigurationPlace(
      path: path, line: self.line, column: before + 1, text: text,
      range: start..<(inner.lowerBound + part.upperBound))
  }
}

/// An error in a configuration file, with its place.
public struct ConfigurationError: Error, Hashable, Sendable {
  /// The error: a clause, quoting the file unchanged.
  public let reason: String
  /// The place.
  public let place: ConfigurationPlace
  /// A hint, or `nil`.
  public let hint: String?

  /// Creates an error.
  public init(_ reason: String, at place: ConfigurationPlace, hint: String? = nil) {
    (self.reason, self.place, self.hint) = (reason, place, hint)
  }
}

/// The text of a configuration file, split into lines.
struct ConfigurationText: Hashable {
  let path: String
  let bytes: [UInt8]
  /// The beginning of each line.
  private let lines: [Int]

  init(path: String, bytes: [UInt8]) {
    (self.path, self.bytes) = (path, bytes)
    // Found once, because every value of the file has a place, and counting lines from the
    // beginning for each would take quadratic time.
    lines = [0] + bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
  }

  /// Returns the place of a range; of several lines, the part in the first line.
  func place(of range: Range<Int>) -> ConfigurationPlace {
    let range = range.clamped(to: 0..<bytes.count)
    let number = lineNumber(of: range.lowerBound)
    let start = lines[number - 1]
    let line = bytes[start...].prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    let first = min(range.lowerBound, line.endIndex)
    let before = line[..<first].count { $0 & 0xC0 != 0x80 }
    return ConfigurationPlace(
      path: path, line: number, column: before + 1, text: String(decoding: line, as: UTF8.self),
      range: (first - start)..<(max(first, min(range.upperBound, line.endIndex)) - start))
  }

  /// Returns the number of the line that contains a byte, starting at 1.
  private func lineNumber(of byte: Int) -> Int {
    var (first, end) = (0, lines.count)
    while end - first > 1 {
      let middle = (first + end) / 2
      if lines[middle] <= byte { first = middle } else { end = middle }
    }
    return first + 1
  }
}
