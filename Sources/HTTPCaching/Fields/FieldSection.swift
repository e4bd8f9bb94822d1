import Bytes

/// A line of the header section of a message (RFC 9110 §5.2).
public struct FieldLine: Hashable, Sendable {
  /// The name, as it was received.
  public var name: [UInt8] {
    didSet { known = KnownFieldName(name.span) }
  }

  /// The value, as it was received.
  public var value: [UInt8]

  /// The known field of the line, computed once because it is looked up often.
  private(set) var known: KnownFieldName?

  /// Creates a line.
  public init(name: [UInt8], value: [UInt8]) {
    self.name = name
    self.value = value
    known = KnownFieldName(name.span)
  }

  /// The value without white space at either end (RFC 9110 §5.5).
  var trimmedValue: [UInt8] {
    let isTrimmed =
      value.first?.isBlank != true && value.last?.isBlank != true
    // Most values need no trimming, and are returned without a copy.
    return isTrimmed ? value : Array(value.trimmingBlanks)
  }
}

/// The header section of a message: its lines, in order (RFC 9110 §5.2).
public struct FieldSection: Hashable, Sendable {
  /// The lines; a field may have more than one.
  public var lines: [FieldLine]

  /// Creates a header section.
  public init(_ lines: some Sequence<FieldLine>) {
    self.lines = Array(lines)
  }

  /// Creates a header section without lines.
  public init() {
    lines = []
  }

  /// The values of all lines of a field, in order, without white space at either end (RFC 9110 §5.3, §5.5).
  public func values(of name: FieldName) -> [[UInt8]] {
    var values: [[UInt8]] = []
    let lines = lines.span
    for index in lines.indices where name.matches(lines[index]) {
      values.append(lines[index].trimmedValue)
    }
    return values
  }

  /// Returns for each of some fields a section with all its lines: of a few names the whole section, of many one with
  /// these lines alone, as a hostile response may name very many.
  public func sections(with names: [FieldName]) -> [FieldSection] {
    if names.count <= 8 { return Array(repeating: self, count: names.count) }
    let lines = Dictionary(grouping: lines) { FieldName(of: $0) }
    return names.map { FieldSection(lines[$0] ?? []) }
  }

  /// The value of the first line of a field, without white space at either end; `nil` if there is none.
  ///
  /// Fields such as `Date` have a single value. If a message repeats them, the first is used (RFC 9111 §4.2.1).
  public func firstValue(of name: FieldName) -> [UInt8]? {
    value(of: name, at: 0)
  }

  /// The value of the line of a field with an index, without white space at either end; `nil` if there are fewer lines
  /// (RFC 9110 §5.3, §5.5).
  func value(of name: FieldName, at place: Int) -> [UInt8]? {
    // Called often: iterating over the array would retain and release each line.
    let lines = lines.span
    var place = place
    for index in lines.indices where name.matches(lines[index]) {
      if place == 0 { return lines[index].trimmedValue }
      place -= 1
    }
    return nil
  }

  /// Whether there is a line of a field (RFC 9110 §5.1).
  public func contains(_ name: FieldName) -> Bool {
    let lines = lines.span
    for index in lines.indices where name.matches(lines[index]) { return true }
    return false
  }
}

/// The part of a response that a directive applies to (RFC 9111 §5.2.2.4, §5.2.2.7).
public enum FieldScope: Hashable, Sendable {
  /// The whole response: the directive has no argument, or one that names no field.
  case wholeResponse

  /// Only the named header fields: the qualified form of the directive.
  case fields([FieldName])

  /// Reads the directives with a name; `nil` if there are none.
  ///
  /// If one of them applies to the whole response, all do: the strictest counts. An argument that is not a list of
  /// field names also applies to the whole response.
  init?(_ name: CacheDirective.Name, in control: CacheControl) {
    guard control.contains(name) else { return nil }
    var fields: [FieldName] = []
    for directive in control.directives where directive.name == name {
      guard let names = Self.names(directive.argument) else {
        self = .wholeResponse
        return
      }
      fields += names
    }
    if fields.isEmpty { return nil }
    self = .fields(fields)
  }

  private static func names(_ argument: CacheDirective.Argument?) -> [FieldName]? {
    guard let text = argument?.text else { return nil }
    let names = ListMembers(text).members.map { FieldName($0) }
    // RFC 9111 §5.2.2.4 notes that many caches treat the qualified form as the unqualified one,
    // which is the safe reading of an argument that cannot be understood.
    return names.isEmpty || !names.allSatisfy(\.isValid) ? nil : names
  }
}

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
