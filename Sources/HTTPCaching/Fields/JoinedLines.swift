import Bytes

/// What it takes for a value to be that of several lines of a field, which a store has joined by `, `, and to mean
/// something else than they do apart (RFC 9110 §5.3).
enum JoinedLines: Sendable {
  /// Nothing does: it is a list, or only matters for being there.
  case harmless
  /// A quotation mark: it is a list, but one line may leave a quotation open.
  case quotation
  /// A comma.
  case comma
  /// A comma that is not the one after the name of a day.
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
    case .cacheControl: self = .quotation
    case .date, .expires, .lastModified: self = .commaInDate
    case .age, .entityTag: self = .comma
    }
  }

  /// Whether a value may mean something else than its lines did.
  func mayChange(_ value: Span<UInt8>) -> Bool {
    switch self {
    case .harmless: return false
    case .quotation: return value.contains(UInt8(ascii: "\""), from: 0)
    case .comma: return value.contains(UInt8(ascii: ","), from: 0)
    case .commaInDate:
      // What is a date is not several, and nearly all are.
      if value.count == 29, HTTPDate.hasFixedForm(value) { return false }
      var letters = 0
      while letters < value.count, value[letters].asciiLowercased >= UInt8(ascii: "a") {
        letters += 1
      }
      return value.contains(UInt8(ascii: ","), from: letters == 0 ? 0 : letters + 1)
    }
  }
}

extension FieldName {
  /// Whether a value that may be that of several lines, joined by `, `, may mean something else than they do apart
  /// (RFC 9110 §5.3).
  public func mayChange(joined value: Span<UInt8>) -> Bool {
    known.map { JoinedLines(of: $0).mayChange(value) } ?? false
  }
}

extension Span<UInt8> {
  fileprivate func contains(_ byte: UInt8, from start: Int) -> Bool {
    // Without a way out, the compiler looks at many bytes at once.
    var found = false
    let rest = extracting(droppingFirst: start)
    for index in rest.indices { found = (rest[index] == byte) || found }
    return found
  }
}
