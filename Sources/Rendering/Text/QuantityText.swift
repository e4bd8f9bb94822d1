public import Administration
public import Bytes
public import ResponseArchives
import ResponseStorage

/// Formats numbers of bytes for people: `4.1 MiB`.
public enum ByteSizeText {
  /// Returns a number of bytes, in units of 1,024, with at most three significant digits.
  public static func text(_ byteCount: ByteCount) -> String {
    var buffer = TextBuffer()
    buffer.append(byteCount: byteCount)
    return ByteString(buffer.bytes).string ?? ""
  }
}

/// Formats numbers for people: `4,304`.
public enum QuantityWords {
  /// Returns a number in decimal with thousands separators.
  public static func grouped(_ value: Int64) -> String {
    var buffer = TextBuffer()
    buffer.append(grouped: value)
    return ByteString(buffer.bytes).string ?? ""
  }

  /// Returns a number with the noun for it: `1,200 entries`.
  public static func counted(
    _ count: some BinaryInteger, _ one: String, _ many: String
  ) -> String {
    "\(grouped(Int64(clamping: count))) \(count == 1 ? one : many)"
  }
}

extension ArchiveOmission {
  /// Returns how many entries were left out and why: `2 entries were skipped, each because it has no URL`.
  ///
  /// - Parameters:
  ///   - one: What happened to a single entry.
  ///   - many: What happened to several.
  public func words(_ one: String, _ many: String) -> String {
    QuantityWords.counted(count, "entry \(one) because", "entries \(many), each because")
      + " \(reason)"
  }
}

/// Formats time spans: `12d` in tables, `12 days` in sentences.
public enum AgeText {
  /// Returns the time from `moment` to `now` for a table; `in 3d` if `moment` is in the future.
  public static func text(from moment: Timestamp, to now: Timestamp) -> String {
    let seconds = now.wholeSeconds - moment.wholeSeconds
    return seconds < 0 ? "in \(text(seconds: -seconds))" : text(seconds: seconds)
  }

  /// Returns a time span for a table, in its largest unit.
  public static func text(seconds: Int64) -> String {
    let (count, unit) = parts(of: seconds)
    return "\(count)\(unit.symbol)"
  }

  /// Returns a time span for a sentence, in its largest unit.
  public static func words(seconds: Int64) -> String {
    let (count, unit) = parts(of: seconds)
    return "\(count) \(unit.rawValue)\(count == 1 ? "" : "s")"
  }

  /// Returns the time from `moment` to `now` for a sentence: `3 days ago` or `in 3 days`.
  public static func words(from moment: Timestamp, to now: Timestamp) -> String {
    let seconds = now.wholeSeconds - moment.wholeSeconds
    return seconds < 0 ? "in \(words(seconds: -seconds))" : "\(words(seconds: seconds)) ago"
  }

  /// The units; the raw values are their names.
  private enum Unit: String {
    case second, minute, hour, day, month, year

    /// The unit in tables.
    var symbol: String {
      switch self {
      case .second: "s"
      case .minute: "min"
      case .hour: "h"
      case .day: "d"
      case .month: "mo"
      case .year: "y"
      }
    }
  }

  /// Divides a time span. Days, months and years are only used from two on.
  private static func parts(of seconds: Int64) -> (Int64, Unit) {
    if seconds < 0 {
      // The magnitude of `.min` does not fit.
      let (count, unit) = parts(of: seconds == .min ? .max : -seconds)
      return (-count, unit)
    }
    let days = seconds / 86_400
    return switch seconds {
    case ..<60: (seconds, .second)
    case ..<3_600: (seconds / 60, .minute)
    // Rounded down, from two units on: `1 d` could be anything from 24 to 48 hours.
    case ..<(48 * 3_600): (seconds / 3_600, .hour)
    case ..<(60 * 86_400): (days, .day)
    // Rounded to the nearest month of 365/12 days.
    case ..<(730 * 86_400): ((days * 12 + 182) / 365, .month)
    default: (days / 365, .year)
    }
  }
}

/// Formats durations as options have them, without rounding: `30d`.
public enum DurationText {
  /// Returns a duration in the largest unit in which it is a whole number.
  public static func text(seconds: Double) -> String {
    guard let whole = Int64(exactly: seconds) else { return "\(seconds)s" }
    let units: [(String, Int64)] = [("d", 86_400), ("h", 3_600), ("min", 60)]
    let unit = units.first { whole > 0 && whole % $0.1 == 0 }
    return unit.map { "\(whole / $0.1)\($0.0)" } ?? "\(whole)s"
  }
}

extension Room {
  /// The amount, in words: `10.0 GiB` or `10%`.
  public var words: String {
    if case .bytes(let bytes) = self { return ByteSizeText.text(bytes) }
    return text
  }
}

/// Formats times in RFC 3339 format: `2026-01-01T00:00:00Z`.
public enum TimeText {
  /// Returns a time in UTC, truncated to seconds.
  public static func text(_ moment: Timestamp) -> String {
    var buffer = TextBuffer()
    buffer.append(time: moment)
    return ByteString(buffer.bytes).string ?? ""
  }
}

extension TextBuffer {
  /// Appends a number of bytes in the format of ``ByteSizeText``.
  public mutating func append(byteCount: ByteCount) {
    if byteCount < 0 { append(UInt8(ascii: "-")) }
    let magnitude = byteCount.bytes.magnitude
    guard magnitude >= 1024 else {
      append(integer: Int64(magnitude))
      append(" B")
      return
    }
    var power: UInt64 = 1
    var (whole, rest) = magnitude.quotientAndRemainder(dividingBy: 1024)
    var size: UInt64 = 1024
    // A number that rounds up to 1,024 is shown in the next unit.
    // In integers, because `Double` has 53 bits and sizes up to 63.
    while whole >= 1024 || (whole == 1023 && rest >= size / 2) {
      size *= 1024
      power += 1
      (whole, rest) = magnitude.quotientAndRemainder(dividingBy: size)
    }
    let tenths = whole * 10 + (rest * 10 + size / 2) / size
    // Three significant digits allow a decimal only below 100.
    if tenths < 1000 {
      append(integer: Int64(tenths / 10))
      append(UInt8(ascii: "."))
      append(integer: Int64(tenths % 10))
    } else {
      append(integer: Int64(whole + (rest >= size / 2 ? 1 : 0)))
    }
    switch power {
    case 1: append(" KiB")
    case 2: append(" MiB")
    case 3: append(" GiB")
    case 4: append(" TiB")
    case 5: append(" PiB")
    default: append(" EiB")
    }
  }

  /// Appends a time in RFC 3339 format, in UTC, truncated to seconds.
  public mutating func append(time moment: Timestamp) {
    bytes.append(rfc3339: moment)
  }

  /// Appends a number with the noun for it: `1,200 entries`.
  mutating func append(counted count: Int64, _ one: String, _ many: String) {
    append(QuantityWords.counted(count, one, many))
  }

  /// Appends a number in decimal with thousands separators: `4,304`.
  mutating func append(grouped value: Int64) {
    var digits = TextBuffer()
    digits.append(integer: value)
    let count = digits.bytes.count
    for (index, digit) in digits.bytes.enumerated() {
      let isDigit = digit != UInt8(ascii: "-")
      // No comma goes between the sign and the first digit.
      if index > 0, (count - index) % 3 == 0, isDigit, digits.bytes[index - 1] != UInt8(ascii: "-")
      {
        append(UInt8(ascii: ","))
      }
      append(digit)
    }
  }
}
