/// The response header fields that determine freshness, and the validators, each parsed once (RFC 9111 §4.2, RFC 9110
/// §8.8).
///
/// The value contains everything needed to evaluate a response, and allocates memory only for invalid fields.
public struct FreshnessFields: Hashable, Sendable {
  /// The time at which the response was received, in seconds since 1970 (RFC 9111 §4.2.3).
  public let responseTime: Int64

  /// Whether the response has `public` (RFC 9111 §5.2.2.9).
  public private(set) var isPublic = false

  /// The parsed value of a field, without the text of an invalid one.
  private enum Reading: Hashable, Sendable {
    case absent, invalid
    case number(Int64)

    var number: Int64? { if case .number(let number) = self { number } else { nil } }
  }

  // A scan may keep a copy or two for each of millions of responses, so only invalid fields allocate memory.
  private var maxAgeReading = Reading.absent
  private var ageReading = Reading.absent
  private var dateReading = Reading.absent
  private var expiresReading = Reading.absent
  private var lastModifiedReading = Reading.absent
  private var invalidTexts: [FreshnessField: [UInt8]] = [:]

  private enum Tag: Hashable, Sendable {
    case absent, empty, weak, strong
  }

  private var tag = Tag.absent

  /// Creates a value without fields.
  ///
  /// - Parameter responseTime: The time at which the response was received, in seconds since 1970.
  public init(receivedAt responseTime: Int64) {
    self.responseTime = responseTime
  }

  /// Reads the fields of a header section.
  ///
  /// - Parameter responseTime: The time at which the response was received, in seconds since 1970.
  public init(_ fields: FieldSection, receivedAt responseTime: Int64) {
    self.init(receivedAt: responseTime)
    // Iterating over the array would retain and release each line.
    let lines = fields.lines.span
    for index in lines.indices {
      guard let field = lines[index].known.flatMap({ FreshnessField($0) }) else { continue }
      read(lines[index].value.span, of: field)
    }
  }

  /// Reads a value that may be several lines of a field, joined by `, `.
  ///
  /// - Returns: Whether the value surely means the same as the separate lines. If not, the caller must start over with
  ///   the separate lines (RFC 9110 §5.3).
  public mutating func read(joined value: Span<UInt8>, of field: FreshnessField) -> Bool {
    read(value, of: field)
    // A single date cannot be several joined lines.
    // Starting over is correct for any value. It is avoided only because it copies all header
    // fields of the response.
    return isDate(field) || !JoinedLines(of: field).mayChange(value)
  }

  private func isDate(_ field: FreshnessField) -> Bool {
    switch field {
    case .date: dateReading.number != nil
    case .expires: expiresReading.number != nil
    case .lastModified: lastModifiedReading.number != nil
    case .age, .cacheControl, .entityTag: false
    }
  }

  /// Reads one line of a field. For most fields, only the first line counts (RFC 9111 §4.2.1).
  private mutating func read(_ value: Span<UInt8>, of field: FreshnessField) {
    switch field {
    case .cacheControl: readDirectives(value)
    case .age: if ageReading == .absent { readAge(value) }
    case .date: if dateReading == .absent { dateReading = date(value, of: field) }
    case .expires: if expiresReading == .absent { expiresReading = date(value, of: field) }
    case .lastModified:
      if lastModifiedReading == .absent { lastModifiedReading = date(value, of: field) }
    case .entityTag: if tag == .absent { tag = Self.tag(value.extracting(value.trimmedRange)) }
    }
  }

  private mutating func readDirectives(_ line: Span<UInt8>) {
    CacheControl.forEachDirective(in: line) { name, argument in
      switch name {
      case .maxAge:
        // The first value counts, here as in ``CacheControl``, or a list and an explanation would
        // disagree about a response.
        guard maxAgeReading == .absent else { return }
        switch CacheDirective.seconds(argument) {
        case .seconds(let seconds): maxAgeReading = .number(seconds)
        case .invalid(let text): (maxAgeReading, invalidTexts[.cacheControl]) = (.invalid, text)
        }
      case .public: isPublic = true
      default: break
      }
    }
  }

  private mutating func readAge(_ value: Span<UInt8>) {
    switch AgeField(value.extracting(value.trimmedRange)) {
    case .absent: break
    case .seconds(let seconds): ageReading = .number(seconds)
    case .invalid(let text): (ageReading, invalidTexts[.age]) = (.invalid, text)
    }
  }

  private mutating func date(_ value: Span<UInt8>, of field: FreshnessField) -> Reading {
    let value = value.extracting(value.trimmedRange)
    // A year of two digits is resolved relative to the time of receipt, so that the result does not depend on the time
    // of the scan.
    if let date = HTTPDate.secondsSince1970(value, now: responseTime) { return .number(date) }
    invalidTexts[field] = Array(copying: value)
    return .invalid
  }

  private static func tag(_ value: Span<UInt8>) -> Tag {
    if value.isEmpty { return .empty }
    let form = EntityTag.Form(of: value)
    // A malformed tag cannot be compared strongly.
    return form.isWellFormed && !form.isWeak ? .strong : .weak
  }

  /// The first `max-age` (RFC 9111 §5.2.2.1), or `nil` if there is none.
  public var maxAge: DeltaSeconds? {
    switch maxAgeReading {
    case .absent: nil
    case .invalid: .invalid(invalidTexts[.cacheControl] ?? [])
    case .number(let seconds): .seconds(seconds)
    }
  }

  /// The `Age` (RFC 9111 §5.1).
  public var age: AgeField {
    switch ageReading {
    case .absent: .absent
    case .invalid: .invalid(invalidTexts[.age] ?? [])
    case .number(let seconds): .seconds(seconds)
    }
  }

  /// The `Date` (RFC 9110 §6.6.1).
  public var date: DateField { dateField(dateReading, .date) }

  /// The `Expires` (RFC 9111 §5.3).
  public var expires: DateField { dateField(expiresReading, .expires) }

  /// The `Last-Modified` (RFC 9110 §8.8.2).
  public var lastModified: DateField { dateField(lastModifiedReading, .lastModified) }

  private func dateField(_ reading: Reading, _ field: FreshnessField) -> DateField {
    switch reading {
    case .absent: .absent
    case .invalid: .invalid(invalidTexts[field] ?? [])
    case .number(let date): .date(date)
    }
  }

  /// The time at which the response was generated: its `Date`, or the time of receipt if there is no valid `Date` (RFC
  /// 9110 §6.6.1, RFC 9111 §4.2.3).
  // RFC 9110 §6.6.1 lets a recipient without a valid `Date` use the time of receipt.
  public var dateValue: Int64 { dateReading.number ?? responseTime }

  /// The strength of the entity tag, or `nil` if there is none (RFC 9110 §8.8.1).
  public var entityTagStrength: Validators.Strength? {
    switch tag {
    case .absent, .empty: nil
    case .weak: .weak
    case .strong: .strong
    }
  }

  /// The strength of `Last-Modified`, or `nil` if there is no valid date (RFC 9110 §8.8.2.2).
  public var lastModifiedStrength: Validators.Strength? {
    lastModifiedReading.number.map { Validators.strength(ofLastModified: $0, date: date) }
  }
}
