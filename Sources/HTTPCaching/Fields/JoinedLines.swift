import Bytes

/// The conditions under which a value of several lines, which a store has joined by `, `, may mean something else than
/// the separate lines (RFC 9110 §5.3).
enum JoinedLines: Sendable {
  /// Never: the field is a list, or only its presence matters.
  case harmless
  /// A quotation mark: the field is a list, but a line may have an unclosed quotation mark.
  case quotation
  /// A comma: the field has a single value.
  case comma
  /// A comma other than the one after the name of the day.
  case commaInDate

  init(of name: KnownFieldName) {
    if let field = FreshnessField(name) {
      self.init(of: field)
      return
    }
    switch name {
    case .contentLength, .contentLocation, .contentRange, .pragma: self = .comma
    default: self = .harmless
    }
  }

  init(of field: FreshnessField) {
    switch field {
    // Lists mean the same joined or not (RFC 9110 §5.3), unless an unclosed quotation mark of one
    // line swallows the next.
    case .cacheControl: self = .quotation
    case .date, .expires, .lastModified: self = .commaInDate
    case .age, .entityTag: self = .comma
    }
  }

  /// Whether a joined value may mean something else than its lines.
  func mayChange(_ value: Span<UInt8>) -> Bool {
    switch self {
    case .harmless: return false
    case .quotation: return value.contains(UInt8(ascii: "\""), from: 0)
    case .comma: return value.contains(UInt8(ascii: ","), from: 0)
    case .commaInDate:
      // Nearly all values have this form: a single date cannot be several joined lines.
      if value.count == 29, HTTPDate.hasFixedForm(value) { return false }
      var letters = 0
      while letters < value.count, value[letters].asciiLowercased >= UInt8(ascii: "a") {
        letters += 1
      }
      // The comma after `Sun` or `Sunday` belongs to a date. Any other one separates two lines.
      return value.contains(UInt8(ascii: ","), from: letters == 0 ? 0 : letters + 1)
    }
  }
}

extension FieldName {
  /// Whether a value that may be several lines joined by `, ` may mean something else than the separate lines (RFC 9110
  /// §5.3).
  public func mayChange(joined value: Span<UInt8>) -> Bool {
    known.map { JoinedLines(of: $0).mayChange(value) } ?? false
  }
}

extension Span<UInt8> {
  fileprivate func contains(_ byte: UInt8, from start: Int) -> Bool {
    // Without an early exit, the compiler can vectorize the loop.
    var found = false
    let rest = extracting(droppingFirst: start)
    for index in rest.indices { found = (rest[index] == byte) || found }
    return found
  }
}
