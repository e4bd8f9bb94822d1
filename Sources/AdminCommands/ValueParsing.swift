import Administration
import ArgumentParser
import Files
import ResponseStorage

/// A number of bytes on the command line: `4096`, `4K`, `4KiB` (1024) or `4kB` (1000).
func parseSize(_ text: String) throws -> Int64 {
  let (number, unit) = split(text)
  let factor: Double? =
    switch unit {
    case "", "B": 1
    case "K", "KiB": 1_024
    case "M", "MiB": 1_048_576
    case "G", "GiB": 1_073_741_824
    case "T", "TiB": 1_099_511_627_776
    case "kB": 1_000
    case "MB": 1_000_000
    case "GB": 1_000_000_000
    case "TB": 1_000_000_000_000
    default: nil
    }
  guard let number = decimal(number), let factor, number * factor < 9e18 else {
    throw ValidationError(
      "'\(printable(text))' is not a size. Write a number of bytes, or one with K, M, G, KiB, MiB, GiB"
        + " (1024) or kB, MB, GB (1000), for example '512MiB'.")
  }
  return Int64(number * factor)
}

/// A length of time on the command line, in seconds: `90s`, `30min`, `12h`, `30d` or `2w`.
func parseDuration(_ text: String) throws -> Double {
  let (number, unit) = split(text)
  if unit == "m" {
    throw ValidationError(
      "'\(printable(text))' could mean minutes or months. Write '\(number)min', or days: '30d'.")
  }
  let factor: Double? =
    switch unit {
    case "ms": 0.001
    case "s": 1
    case "min": 60
    case "h": 3_600
    case "d": 86_400
    case "w": 604_800
    default: nil
    }
  guard let number = decimal(number), let factor, number * factor < 1e12 else {
    throw ValidationError(
      "'\(printable(text))' is not a length of time. Write a number with s, min, h, d or w,"
        + " for example '30d'.")
  }
  return number * factor
}

/// A moment on the command line.
struct ParsedTime {
  /// The moment.
  var time: Timestamp
  /// What to tell the user about it, if it was given as a day of the system's time zone.
  var note: String?
}

/// An id on the command line: a number, or the name of a file.
func parseID(_ text: String) throws -> StoredResponse.ID {
  guard let id = StoredResponse.ID(text) else {
    throw ValidationError(
      "'\(printable(text))' is not an id. 'urlcache-admin list' shows those of a cache.")
  }
  return id
}

/// A moment on the command line: RFC 3339, or a day, which means its first second here.
func parseTime(_ text: String) throws -> ParsedTime {
  let failure = ValidationError(
    "'\(printable(text))' is not a time. Write a day ('2026-01-31', from midnight here) or RFC 3339"
      + " ('2026-01-31T12:00:00Z', '2026-01-31T12:00:00+01:00').")
  let bytes = Array(text.utf8)
  func number(_ range: Range<Int>) -> Int64? {
    guard range.upperBound <= bytes.count else { return nil }
    var value: Int64 = 0
    for byte in bytes[range] {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      value = value * 10 + Int64(byte - UInt8(ascii: "0"))
    }
    return value
  }
  guard bytes.count >= 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
    let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
    CivilTime(year: year, month: month, day: day) != nil
  else { throw failure }
  if bytes.count == 10 {
    guard let midnight = LocalTime.midnight(year: year, month: month, day: day),
      let time = Timestamp(secondsSince1970: Double(midnight.seconds))
    else { throw failure }
    let minutes = abs(midnight.offset) / 60
    let zone =
      (midnight.offset < 0 ? "-" : "+") + twoDigits(minutes / 60) + ":" + twoDigits(minutes % 60)
    return ParsedTime(time: time, note: "\(text) is taken as \(text)T00:00:00\(zone)")
  }
  guard bytes.count >= 20,
    [UInt8(ascii: "T"), UInt8(ascii: "t"), UInt8(ascii: " ")].contains(bytes[10]),
    bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
    let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
    let civil = CivilTime(
      year: year, month: month, day: day, hour: hour, minute: minute, second: second)
  else { throw failure }
  var rest = bytes[19...]
  var fraction = 0.0
  if rest.first == UInt8(ascii: ".") {
    let digits = rest.dropFirst().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard !digits.isEmpty, digits.count <= 18 else { throw failure }
    var scale = 0.1
    for digit in digits {
      fraction += Double(digit - UInt8(ascii: "0")) * scale
      scale /= 10
    }
    rest = rest[digits.endIndex...]
  }
  var offset: Int64 = 0
  if rest.elementsEqual([UInt8(ascii: "Z")]) || rest.elementsEqual([UInt8(ascii: "z")]) {
    // UTC
  } else if rest.count == 6, let sign = rest.first,
    sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"),
    bytes[rest.startIndex + 3] == UInt8(ascii: ":"),
    let hours = number(rest.startIndex + 1..<rest.startIndex + 3), hours < 24,
    let minutes = number(rest.startIndex + 4..<rest.startIndex + 6), minutes < 60
  {
    offset = (hours * 3_600 + minutes * 60) * (sign == UInt8(ascii: "+") ? 1 : -1)
  } else {
    throw failure
  }
  guard
    let time = Timestamp(secondsSince1970: Double(civil.secondsSince1970 - offset) + fraction)
  else { throw failure }
  return ParsedTime(time: time, note: nil)
}

/// Statuses on the command line: numbers and classes, `200,4xx`.
func parseStatuses(_ text: String) throws -> [ClosedRange<Int64>] {
  try text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { part in
    let bytes = Array(part)
    if bytes.count == 3, bytes[1] | 0x20 == UInt8(ascii: "x"), bytes[2] | 0x20 == UInt8(ascii: "x"),
      (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(bytes[0])
    {
      let first = Int64(bytes[0] - UInt8(ascii: "0")) * 100
      return first...first + 99
    }
    guard let number = Int64(String(decoding: bytes, as: UTF8.self)), number >= 0 else {
      throw ValidationError(
        "'\(printable(text))' is not a status. Write numbers and classes, for example '200,4xx'.")
    }
    return number...number
  }
}

/// What a property has to be, on the command line: `KEY`, or `KEY=VALUE`, parted at the first `=`.
func parseProperty(_ text: String) throws -> PropertyCriterion {
  let parts = text.utf8.split(
    separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
  guard !parts[0].isEmpty else {
    throw ValidationError(
      "'\(printable(text))' names no key. Write 'KEY' or 'KEY=VALUE'.")
  }
  let value = parts.count > 1 ? String(decoding: Array(parts[1]), as: UTF8.self) : nil
  // A day alone would be a moment that nobody meant.
  let moment = value.flatMap { $0.utf8.count > 10 ? try? parseTime($0).time : nil }
  return PropertyCriterion(
    key: ByteString(Array(parts[0])), value: value.map { ByteString($0) }, moment: moment)
}

private func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

/// Splits off what follows the digits of a number.
private func split(_ text: String) -> (number: String, unit: String) {
  let digits = text.utf8.prefix {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".")
  }
  return (String(digits) ?? "", String(text.utf8.dropFirst(digits.count)) ?? "?")
}

private func decimal(_ text: String) -> Double? {
  guard text.utf8.first.map({ $0 != UInt8(ascii: ".") }) ?? false else { return nil }
  return Double(text)
}

/// What a user typed, safe to print.
func printable(_ text: String) -> String {
  var result = String.UnicodeScalarView()
  for scalar in text.unicodeScalars {
    if scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
      || scalar.properties.isDefaultIgnorableCodePoint || scalar.properties.isBidiControl
    {
      let digits = String(scalar.value, radix: 16, uppercase: true)
      let padding = String(repeating: "0", count: max(0, 4 - digits.utf8.count))
      result.append(contentsOf: "‹U+\(padding)\(digits)›".unicodeScalars)
    } else {
      result.append(scalar)
    }
  }
  return String(result)
}
