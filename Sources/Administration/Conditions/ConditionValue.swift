public import Bytes
import Files
import Matching
import ResponseStorage

/// A value that a field is compared with.
struct ConditionValue {
  enum Content: Hashable {
    case text(ByteString)
    /// A range of numbers, often a single number.
    case numbers(ClosedRange<Double>)
  }

  let content: Content
  /// A note for the user.
  var note: String?

  /// Parses a value.
  init(
    _ text: String, of kind: EntryField.Kind, for sign: ConditionOperator
  ) throws(WrittenValueError) {
    switch kind {
    case .text(let ignoringCase):
      content = .text(ignoringCase ? ByteString(text).asciiLowercased : ByteString(text))
    // What an app attached may be text, a number or a date, which is only known entry by entry. So
    // the text is kept for `=`, and only an order needs a number or a time.
    case .attached:
      switch sign {
      case .less, .lessOrEqual, .greater, .greaterOrEqual:
        if let number = Double(text), number.isFinite {
          content = .number(number)
        } else {
          guard let time = try? WrittenTime(text) else {
            throw WrittenValueError(
              text, "is neither a number nor a time",
              hint: "use a value such as '600' or '2026-01-31T12:00:00Z'")
          }
          content = .number(time.time.secondsSince1970)
          note = time.note
        }
      default: content = .text(ByteString(text))
      }
    case .body where sign == .contains:
      // Each body contains an empty text.
      guard !text.isEmpty else {
        throw WrittenValueError(text, "is empty", hint: "use text to find in bodies")
      }
      content = .text(ByteString(text))
    case .word(let words), .body(let words):
      guard words.contains(where: { $0.utf8.elementsEqual(text.utf8) }) else {
        throw WrittenValueError(
          text, "is not one of the allowed values",
          hint: "use one of: " + words.joined(separator: ", "))
      }
      content = .text(ByteString(text))
    case .status:
      let ranges = try WrittenValue.statuses(text)
      guard ranges.count == 1, let range = ranges.first else {
        throw WrittenValueError(
          text, "is more than one status", hint: "use a list such as 'in (404, 5xx)'")
      }
      // `status < 4xx` could mean below 400 or below 500.
      guard range.count == 1 || [.equal, .notEqual, .oneOf].contains(sign) else {
        throw WrittenValueError(
          text, "is a class of statuses, which '<' and '>' cannot compare",
          hint: "use a number such as '\(range.lowerBound)'")
      }
      content = .numbers(Double(range.lowerBound)...Double(range.upperBound))
    case .size: content = .number(Double(try WrittenValue.size(text)))
    case .share: content = .number(try WrittenValue.percent(text))
    case .age, .duration, .remaining: content = .number(try WrittenValue.duration(text))
    case .time, .date, .expiry:
      let time = try WrittenTime(text)
      content = .number(time.time.secondsSince1970)
      note = time.note
    // A mistake in the table of fields, which a test of each field finds.
    case .id, .list: preconditionFailure("no condition has such a value")
    }
  }
}

extension ConditionValue.Content {
  static func number(_ number: Double) -> Self { .numbers(number...number) }
}

extension EntryField.Kind {
  /// An example value, for hints.
  var example: String {
    switch self {
    case .text: "text, such as \"example.com\""
    case .attached: "text, a number or a time"
    case .word(let words), .body(let words): "one of: " + words.joined(separator: " ")
    case .status: "a status, such as 404 or 5xx"
    case .size: "a size, such as 512KiB"
    case .share: "a percentage, such as 50%"
    case .age, .duration, .remaining: "a duration, such as 7d"
    case .id, .list: ""
    case .time, .date, .expiry: "a time, such as 2026-01-31T12:00:00Z"
    }
  }
}

extension Condition.Test {
  /// Creates the test for a single value; `!=` creates the same test as `=`.
  init(_ sign: ConditionOperator, _ value: ConditionValue) {
    switch (value.content, sign) {
    case (.text(let text), .beginsWith): self = .beginsWith(text)
    case (.text(let text), .endsWith): self = .endsWith(text)
    case (.text(let text), .contains): self = .contains(text)
    case (.numbers(let numbers), .less): self = .less(numbers.lowerBound, orEqual: false)
    case (.numbers(let numbers), .lessOrEqual): self = .less(numbers.lowerBound, orEqual: true)
    case (.numbers(let numbers), .greater): self = .greater(numbers.lowerBound, orEqual: false)
    case (.numbers(let numbers), .greaterOrEqual):
      self = .greater(numbers.lowerBound, orEqual: true)
    default: self.init(equalsAny: [value])
    }
  }

  /// Creates a test for any of several values.
  init(equalsAny values: [ConditionValue]) {
    var (texts, ranges): ([ByteString], [ClosedRange<Double>]) = ([], [])
    for value in values {
      switch value.content {
      case .text(let text): texts.append(text)
      case .numbers(let range): ranges.append(range)
      }
    }
    self = ranges.isEmpty ? .equals(texts) : .within(ranges)
  }
}

/// A comparison operator.
enum ConditionOperator: String, Hashable, CaseIterable {
  case equal = "="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  case beginsWith = "^="
  case endsWith = "$="
  case contains = "*="
  case oneOf = "in"

  /// Returns the operators separated by spaces.
  static func list(_ operators: [ConditionOperator]) -> String {
    operators.map(\.rawValue).joined(separator: " ")
  }
}

extension EntryField.Kind {
  /// The operators that fields of this kind take.
  var operators: [ConditionOperator] {
    switch self {
    case .text: [.equal, .notEqual, .beginsWith, .endsWith, .contains, .oneOf]
    case .body: [.equal, .notEqual, .contains, .oneOf]
    case .attached: ConditionOperator.allCases
    // Words have no order that users would agree on.
    case .word: [.equal, .notEqual, .oneOf]
    case .status, .size, .share:
      [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .oneOf]
    // No `=`: times are compared to fractions of a second, so it would never match.
    case .age, .duration, .remaining, .time, .date, .expiry:
      [.less, .lessOrEqual, .greater, .greaterOrEqual]
    case .id, .list: []
    }
  }
}

extension EntryField {
  /// Rejects a host or media type that no response can have, like the options of the same names.
  func check(_ text: String, _ sign: ConditionOperator) throws(WrittenValueError) {
    let isWhole = [.equal, .notEqual, .oneOf].contains(sign)
    if name == "mime", isWhole {
      if !text.isEmpty, !text.utf8.contains(UInt8(ascii: "/")) {
        throw WrittenValueError(
          text, "is not a complete media type",
          hint: Glob.isMediaType(text)
            ? "use '^=' to match the beginning, for example 'mime ^= \"\(text)/\"'"
            : "use '$=' to match the end, for example 'mime $= \"/\(text)\"'")
      }
      // `--mime` takes patterns, so users expect them here, too. Compared literally, the text would
      // match nothing, and a clean-up would do nothing without saying so.
      if text.utf8.contains(UInt8(ascii: "*")) {
        throw WrittenValueError(
          text, "contains '*', which no media type does",
          hint: "use '^=' to match the beginning, for example 'mime ^= \"image/\"'")
      }
    }
    guard name == "host" else { return }
    if isWhole {
      _ = try WrittenValue.host(text)
    } else if text.utf8.contains(UInt8(ascii: "*")) {
      throw WrittenValueError(
        text, "contains '*', which no host does", hint: "remove the '*'")
    }
  }

  /// Returns a text in the form in which the field is compared with it.
  func compared(_ text: String, _ sign: ConditionOperator) -> String {
    guard name == "host" else { return text }
    let isWhole = [.equal, .notEqual, .oneOf].contains(sign)
    let host = isWhole ? HostPattern(ByteString(text)).name : HostName.mapped(ByteString(text))
    return host.string ?? text
  }

  /// Returns a note for the user about a value.
  func note(about text: String, _ sign: ConditionOperator) -> String? {
    guard name == "url", [.equal, .notEqual, .oneOf, .beginsWith].contains(sign) else { return nil }
    return WrittenValue.schemeNote(about: text)
  }
}

extension WrittenValue {
  /// The schemes that users may be starting to type.
  private static let schemes = [
    "http://", "https://", "file://", "data:", "blob:", "ws://", "wss://",
  ]

  /// Returns a note if a URL prefix without a `:` looks like a host; `nil` otherwise.
  static func schemeNote(about text: String) -> String? {
    // Users who write a host without a scheme select nothing. The text cannot be refused, because
    // some other scheme may begin with it, so it only causes a note.
    guard mayBeginURL(text), !text.utf8.contains(UInt8(ascii: ":")),
      !schemes.contains(where: { $0.utf8.starts(with: text.utf8) })
    else { return nil }
    return
      "'\(text)' is the start of a scheme, not of a host; use 'https://\(text)' for a host"
  }
}

/// A time as users write it: RFC 3339, or a date, which means its midnight in the local time zone.
public struct WrittenTime: Hashable, Sendable {
  /// The time.
  public let time: Timestamp
  /// A note for the user if the time was given as a local date.
  public let note: String?

  /// Parses a time.
  public init(_ text: String) throws(WrittenValueError) {
    let failure = WrittenValueError(
      text, "is not a time",
      hint: "use a date ('2026-01-31', local midnight) or RFC 3339 ('2026-01-31T12:00:00Z',"
        + " '2026-01-31T12:00:00+01:00')")
    let bytes = Array(text.utf8)
    guard let day = CivilTime(bytes.span) else {
      guard let time = Timestamp(iso8601: bytes, .rfc3339) else { throw failure }
      self.time = time
      note = nil
      return
    }
    // The system's time zone decides, because the day on which a clock changes has no fixed offset,
    // and in some zones no midnight.
    guard let midnight = LocalTime.midnight(year: day.year, month: day.month, day: day.day),
      let time = Timestamp(secondsSince1970: Double(midnight.seconds))
    else { throw failure }
    self.time = time
    // A scheduled job often runs in another time zone than the shell in which the command was
    // tried, so the zone is always shown.
    note = "reading \(text) as \(text)T00:00:00\(Self.zone(midnight.offset))"
  }

  /// Parses `today` or `yesterday`: the local midnight at which that day began.
  ///
  /// - Parameter now: A time of today.
  public init(day word: String, at now: Timestamp) throws(WrittenValueError) {
    let seconds = Int64(now.secondsSince1970.rounded(.down))
    guard let daysAgo = ["today": Int64(0), "yesterday": 1][word],
      let today = LocalTime.day(ofSecond: seconds),
      let midnight = LocalTime.midnight(
        year: today.year, month: today.month, day: today.day - daysAgo),
      let time = Timestamp(secondsSince1970: Double(midnight.seconds)),
      let local = Timestamp(secondsSince1970: Double(midnight.seconds + midnight.offset))
    else {
      throw WrittenValueError(word, "is not a time", hint: "use a date such as '2026-01-31'")
    }
    self.time = time
    var shown: [UInt8] = []
    shown.append(rfc3339: local)
    note =
      "reading \(word) as \(String(decoding: shown.dropLast(), as: UTF8.self))"
      + Self.zone(midnight.offset)
  }

  /// Creates the time that is a number of seconds before another time.
  public init(_ seconds: Double, before now: Timestamp) {
    time = Timestamp(secondsSince1970: now.secondsSince1970 - seconds) ?? now
    note = nil
  }

  /// Parses text with a date and a time; not a date alone, which users do not mean as a point in time.
  static func moment(_ text: ByteString) -> Timestamp? {
    guard text.bytes.count > 10, let text = text.string else { return nil }
    return try? WrittenTime(text).time
  }

  /// Returns an offset from UTC in seconds in the format of RFC 3339.
  private static func zone(_ offset: Int64) -> String {
    func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let minutes = abs(offset) / 60
    return (offset < 0 ? "-" : "+") + twoDigits(minutes / 60) + ":" + twoDigits(minutes % 60)
  }
}
