import Bytes
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
    _ text: String, of kind: ConditionField.Kind, for sign: ConditionOperator
  ) throws(WrittenValueError) {
    switch kind {
    case .text(let ignoringCase):
      content = .text(ignoringCase ? ByteString(text).asciiLowercased : ByteString(text))
    // What an app attached may be text, a number or a date, which is only known entry by entry. So
    // the text is kept for `=`, and only an order needs a number or a time.
    case .property:
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
    case .duration: content = .number(try WrittenValue.duration(text))
    case .time:
      let time = try WrittenTime(text)
      content = .number(time.time.secondsSince1970)
      note = time.note
    }
  }
}

extension ConditionValue.Content {
  static func number(_ number: Double) -> Self { .numbers(number...number) }
}

extension ConditionField.Kind {
  /// An example value, for hints.
  var example: String {
    switch self {
    case .text: "text, such as \"example.com\""
    case .property: "text, a number or a time"
    case .word(let words), .body(let words): "one of: " + words.joined(separator: " ")
    case .status: "a status, such as 404 or 5xx"
    case .size: "a size, such as 512KiB"
    case .share: "a percentage, such as 50%"
    case .duration: "a duration, such as 7d"
    case .time: "a time, such as 2026-01-31T12:00:00Z"
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
