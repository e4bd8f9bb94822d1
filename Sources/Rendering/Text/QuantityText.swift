public import Bytes
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

/// Formats time spans for people: `12 d`.
public enum AgeText {
  /// Returns the time from `moment` to `now`; `in 3 d` if `moment` is in the future.
  public static func text(from moment: Timestamp, to now: Timestamp) -> String {
    let seconds = now.wholeSeconds - moment.wholeSeconds
    return seconds < 0 ? "in \(text(seconds: -seconds))" : text(seconds: seconds)
  }

  /// Returns a time span in its largest unit. Days, months and years are only used from two on.
  public static func text(seconds: Int64) -> String {
    // The magnitude of `.min` does not fit.
    if seconds < 0 { return "-" + text(seconds: seconds == .min ? .max : -seconds) }
    let days = seconds / 86_400
    return switch seconds {
    case ..<60: "\(seconds) s"
    case ..<3_600: "\(seconds / 60) min"
    // Rounded down, from two units on: `1 d` could be anything from 24 to 48 hours.
    case ..<(48 * 3_600): "\(seconds / 3_600) h"
    case ..<(60 * 86_400): "\(days) d"
    // Rounded to the nearest month of 365/12 days.
    case ..<(730 * 86_400): "\((days * 12 + 182) / 365) mo"
    default: "\(days / 365) y"
    }
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
