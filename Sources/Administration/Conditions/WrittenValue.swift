public import Bytes
public import Matching
import ResponseStorage

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

extension WrittenValue {
  /// Parses a host, or `.` or `*.` and a domain; rejects text that cannot be the host of a URL.
  public static func host(_ text: String) throws(WrittenValueError) -> HostPattern {
    let host = ByteString(text).asciiLowercased
    // Certificates and proxies write subdomains like this.
    let isWildcard = host.bytes.starts(with: "*.".utf8)
    let bytes = isWildcard ? Array(host.bytes.dropFirst(2)) : host.bytes
    if bytes.contains(UInt8(ascii: "/")) {
      let parts = text.utf8.split(separator: UInt8(ascii: "/"))
      // Parse text such as `example.com/a` as a URL, too, to suggest its host.
      let found =
        CanonicalURL.host(of: host)
        ?? CanonicalURL.host(
          of: ByteString(Array("x://".utf8) + (parts.first.map(Array.init) ?? [])))
      throw WrittenValueError(
        text, "is a URL or a path, not a host",
        hint: found.flatMap(\.string).map { "use '\($0)'" }
          ?? "use a host such as 'example.com'")
    }
    if bytes.contains(UInt8(ascii: ",")) {
      throw WrittenValueError(
        text, "contains ',', which no host does", hint: "write one host in each value")
    }
    if bytes.contains(where: { "*? @".utf8.contains($0) }) {
      throw WrittenValueError(
        text, "is not a host",
        hint: "use a host, or '.example.com' for a host and its subdomains;"
          + " 'glob' matches whole URLs against a pattern")
    }
    // The brackets only separate an IPv6 address from the port (RFC 3986 §3.2.2), and stored hosts
    // are compared without them.
    if bytes.first == UInt8(ascii: "["), let end = bytes.firstIndex(of: UInt8(ascii: "]")) {
      throw WrittenValueError(
        text, "has brackets, which are not part of the host",
        hint: "use '\(String(decoding: bytes[1..<end], as: UTF8.self))'")
    }
    let colons = bytes.count { $0 == UInt8(ascii: ":") }
    if colons == 1, let colon = bytes.firstIndex(of: UInt8(ascii: ":")) {
      throw WrittenValueError(
        text, "has a port, which is not part of the host",
        hint: colon == 0
          ? "use a host such as 'example.com'"
          : "use '\(String(decoding: bytes[..<colon], as: UTF8.self))'")
    }
    guard bytes != [UInt8(ascii: ".")],
      !isWildcard || !bytes.isEmpty && bytes.first != UInt8(ascii: ".")
    else {
      throw WrittenValueError(
        text, "is not a host", hint: "use a host, or '.example.com' for a host and its subdomains")
    }
    return HostPattern(host)
  }

  /// Parses a partition; rejects the empty string, which names no partition.
  public static func partition(_ text: String) throws(WrittenValueError) -> ByteString {
    guard !text.isEmpty else {
      throw WrittenValueError(
        text, "is not a partition", hint: "use a site such as 'https://example.com'")
    }
    return ByteString(text)
  }

  /// Parses a method; rejects text that is not a token (RFC 9110 §9.1).
  public static func method(_ text: String) throws(WrittenValueError) -> ByteString {
    guard text.utf8.isToken else {
      throw WrittenValueError(
        text, "is not a method", hint: "use one method such as 'GET'; repeat the option for several"
      )
    }
    return ByteString(text)
  }

  /// Parses a URL prefix; rejects text without a scheme, which begins no URL.
  public static func prefix(_ text: String) throws(WrittenValueError) -> URLPrefix {
    // `purge --prefix example.com` would match nothing and exit with status 0, so a scheduled
    // clean-up would never clean up anything.
    guard mayBeginURL(text) else {
      throw WrittenValueError(
        text, "has no scheme, so no URL starts with it",
        hint:
          "use 'https://\(String(text.unicodeScalars.drop { $0 == "/" }))', or 'host' or 'glob'"
      )
    }
    return URLPrefix(ByteString(text))
  }

  /// Whether a URL can begin with a text: whether the part before `:`, or the whole text, can be a scheme (RFC 3986
  /// §3.1).
  static func mayBeginURL(_ text: String) -> Bool {
    text.isEmpty || URLParts(text.utf8 + [UInt8(ascii: ":")]).scheme != nil
  }
}

extension Glob {
  /// Parses a pattern for whole URLs; rejects patterns without a scheme, which match no URL.
  public init(url text: String) throws(WrittenValueError) {
    try self.init(written: text)
    let beginning = text.unicodeScalars.prefix { !"*?[\\".unicodeScalars.contains($0) }
    guard WrittenValue.mayBeginURL(String(beginning)) else {
      throw WrittenValueError(
        text, "has no scheme, so it matches no whole URL",
        hint: "use '*\(text)', or start with 'https://'")
    }
  }
}

extension SelectionCriteria {
  /// Criteria that no entry can meet at once.
  public struct Contradiction: Error, Hashable, Sendable {
    /// The contradicting criteria, named like their options: a sentence.
    public let message: String
    /// What to write instead: a clause.
    public let hint: String
  }

  /// The contradiction in the criteria, if there is one; compares only ages with ages, and times with times.
  public var contradiction: Contradiction? {
    // Criteria that nothing can meet are a mistake. As an empty result, a script would repeat it
    // for years without anyone noticing.
    // Ages and times are only compared with their own kind here: whether both can be true depends
    // on when the command runs.
    if let olderThan, let newerThan, olderThan >= newerThan {
      return Contradiction(
        message:
          "no entry can be both older than 'older-than' and newer than 'newer-than'",
        hint: "to select a range of ages, give 'older-than' the smaller age")
    }
    if let before = storedBefore?.time, let after = storedAfter?.time, before <= after {
      return Contradiction(
        message: "no entry can be stored both before 'stored-before' and after 'stored-after'",
        hint: "to select a range of times, give 'stored-after' the earlier time")
    }
    // Both bounds are exclusive, and sizes are whole numbers.
    if let larger = criteria.largerThan, let smaller = criteria.smallerThan, larger >= smaller - 1 {
      return Contradiction(
        message: "no body can be both larger than 'larger-than' and smaller than 'smaller-than'",
        hint: "to select a range of sizes, give 'larger-than' the smaller size")
    }
    if criteria.smallerThan == 0 {
      return Contradiction(
        message: "no body is smaller than 0 bytes", hint: "use '1' to select empty bodies")
    }
    let isOfMissingBodies = criteria.bodyLocations == [.missing]
    if isOfMissingBodies, criteria.largerThan != nil || criteria.smallerThan != nil {
      return Contradiction(
        message: "a missing body has no size", hint: "remove either the size or 'body'")
    }
    if isOfMissingBodies, criteria.isPartial {
      return Contradiction(
        message: "a missing body cannot be partial", hint: "remove either 'partial' or 'body'")
    }
    if criteria.expiresWithin != nil, !criteria.freshness.isEmpty,
      !criteria.freshness.contains(.fresh)
    {
      return Contradiction(
        message: "'expires-within' selects only fresh entries",
        hint: "remove 'expires-within', or select 'fresh'")
    }
    return nil
  }
}
