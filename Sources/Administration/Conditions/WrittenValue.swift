public import Bytes

/// Parsers for values as users write them in options, conditions and configuration files.
public enum WrittenValue {
  /// Parses a number of bytes: `4096`, `4K`, `4KiB` (1,024) or `4kB` (1,000); the case of letters does not matter.
  public static func size(_ text: String) throws(WrittenValueError) -> ByteCount {
    let (number, unit) = split(text)
    let factor: Double? =
      switch ByteString(unit).asciiLowercased.string ?? "?" {
      case "", "b": 1
      // As in `dd`, `du` and Git, a bare letter is binary, and `kB` is decimal (SI).
      case "k", "kib": 1_024
      case "m", "mib": 1_048_576
      case "g", "gib": 1_073_741_824
      case "t", "tib": 1_099_511_627_776
      case "kb": 1_000
      case "mb": 1_000_000
      case "gb": 1_000_000_000
      case "tb": 1_000_000_000_000
      default: nil
      }
    // `Int64` ends at about 9.2e18.
    guard let number = decimal(number), let factor, number * factor < 9e18 else {
      throw WrittenValueError(
        text, "is not a size",
        hint: "use a number of bytes, or a number with K, M, G, KiB, MiB, GiB (1024) or kB, MB, GB"
          + " (1000), for example '512MiB'")
    }
    return ByteCount(Int64(number * factor))
  }

  /// Parses a duration, in seconds: `90s`, `30min`, `12h`, `30d`, `2w`, `6mo`, `1y`, or `30 days` with a word of
  /// ``durationWords``.
  public static func duration(_ text: String) throws(WrittenValueError) -> Double {
    let (number, spacedUnit) = split(text)
    let unit = String(spacedUnit.drop { $0 == " " })
    // The two readings differ by a factor of 43,800, and a purge cannot be undone.
    if unit == "m" {
      throw WrittenValueError(
        text, "could mean minutes or months", hint: "write '\(number)min' or '\(number)mo'")
    }
    if unit.isEmpty, decimal(number) != nil {
      throw WrittenValueError(
        text, "has no unit",
        hint: "write '\(number)d' for days, or s, min, h, w, mo or y instead of d")
    }
    let factor: Double? =
      switch unit {
      case "ms": 0.001
      case "s": 1
      case "min": 60
      case "h": 3_600
      case "d": 86_400
      case "w": 604_800
      // Tables count in the same months and years.
      case "mo": 365 * 86_400 / 12
      case "y": 365 * 86_400
      default: durationWord(unit)
      }
    // More than 30,000 years; below that, sums of times stay in range.
    guard let number = decimal(number), let factor, number * factor < 1e12 else {
      throw WrittenValueError(
        text, "is not a duration",
        hint: "write a number with s, min, h, d, w, mo or y, for example '30d'")
    }
    return number * factor
  }

  /// The units of durations that are written out, in any case of letters, with their seconds. An `s` can follow.
  private static let durationWords: [ByteString: Double] = [
    ByteString("sec"): 1, ByteString("second"): 1, ByteString("min"): 60, ByteString("minute"): 60,
    ByteString("hour"): 3_600, ByteString("day"): 86_400, ByteString("week"): 604_800,
    ByteString("month"): 365 * 86_400 / 12, ByteString("year"): 365 * 86_400,
  ]

  /// Returns the seconds of a unit that is written out; `nil` for another word.
  private static func durationWord(_ unit: String) -> Double? {
    let word = ByteString(unit).asciiLowercased
    if let seconds = durationWords[word] { return seconds }
    guard word.bytes.last == UInt8(ascii: "s") else { return nil }
    return durationWords[ByteString(Array(word.bytes.dropLast()))]
  }

  /// Parses a percentage: `90%` or `90`.
  public static func percent(_ text: String) throws(WrittenValueError) -> Double {
    let number = text.utf8.last == UInt8(ascii: "%") ? String(text.dropLast()) : text
    // `Double` also reads `nan` and `inf`, which no comparison treats as a limit.
    guard let percent = Double(number), percent >= 0, percent.isFinite else {
      throw WrittenValueError(text, "is not a percentage", hint: "use a percentage such as '90%'")
    }
    return percent
  }

  /// Parses comma-separated statuses, classes and ranges, such as `200,4xx` or `400-499`.
  public static func statuses(
    _ text: String
  ) throws(WrittenValueError) -> [ClosedRange<Int64>] {
    var ranges: [ClosedRange<Int64>] = []
    for part in text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      guard let range = status(Array(part)) else {
        throw WrittenValueError(
          text, "is not a status",
          hint: "write numbers up to 999, ranges such as '400-499', and classes from 1xx to 5xx,"
            + " for example '200,4xx'")
      }
      ranges.append(range)
    }
    return ranges
  }

  /// Parses a status, a range, or a class such as `4xx`.
  private static func status(_ bytes: [UInt8]) -> ClosedRange<Int64>? {
    if let dash = bytes.firstIndex(of: UInt8(ascii: "-")) {
      let bounds = [bytes[..<dash], bytes[(dash + 1)...]].compactMap { bound in
        bound.allSatisfy(\.isASCIIDigit) ? Int64(String(decoding: bound, as: UTF8.self)) : nil
      }
      guard bounds.count == 2, bounds[0] <= bounds[1], bounds[1] <= 999 else { return nil }
      return bounds[0]...bounds[1]
    }
    if bytes.count == 3, bytes[1] | 0x20 == UInt8(ascii: "x"), bytes[2] | 0x20 == UInt8(ascii: "x"),
      (UInt8(ascii: "1")...UInt8(ascii: "5")).contains(bytes[0])
    {
      let first = Int64(bytes[0] - UInt8(ascii: "0")) * 100
      return first...first + 99
    }
    guard let number = Int64(String(decoding: bytes, as: UTF8.self)),
      // RFC 9110 §15 has 100 to 599 only, but a cache can contain any number, and such entries must
      // be selectable.
      (0...999).contains(number)
    else {
      return nil
    }
    return number...number
  }

  /// Splits a number from its unit.
  private static func split(_ text: String) -> (number: String, unit: String) {
    let digits = text.utf8.prefix { $0.isASCIIDigit || $0 == UInt8(ascii: ".") }
    return (String(digits) ?? "", String(text.utf8.dropFirst(digits.count)) ?? "?")
  }

  private static func decimal(_ text: String) -> Double? {
    guard text.utf8.first.map({ $0 != UInt8(ascii: ".") }) ?? false else { return nil }
    return Double(text)
  }
}

/// A value that cannot be parsed.
public struct WrittenValueError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text, as written; not safe to print.
  public let text: String
  /// The error: a clause without a subject.
  public let reason: String
  /// What to write instead: a clause that begins with 'write' or 'there are'.
  public let hint: String

  /// Creates an error.
  public init(_ text: String, _ reason: String, hint: String) {
    (self.text, self.reason, self.hint) = (text, reason, hint)
  }

  public var description: String {
    "'\(text)' \(reason). \(hint.prefix(1).uppercased())\(hint.dropFirst())."
  }
}
