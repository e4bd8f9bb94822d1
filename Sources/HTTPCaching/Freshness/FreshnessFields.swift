/// The header fields of a response that its freshness and its validators depend on, each read once
/// (RFC 9111 §4.2, RFC 9110 §8.8).
///
/// It is all that is needed to judge a response, and takes no memory of its own for a value that is valid.
public struct FreshnessFields: Hashable, Sendable {
  /// When the response was received, in seconds since 1970 (RFC 9111 §4.2.3).
  public let responseTime: Int64

  /// Whether there is `public` (RFC 9111 §5.2.2.9).
  public private(set) var isPublic = false

  /// What a field says, but for the text of what is invalid.
  private enum Reading: Hashable, Sendable {
    case absent, invalid
    case number(Int64)

    var number: Int64? { if case .number(let number) = self { number } else { nil } }
  }

  // Of each of millions of responses there is a copy or two: only what is invalid takes memory of its own.
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

  /// Starts without fields.
  ///
  /// - Parameter responseTime: When the response was received, in seconds since 1970.
  public init(receivedAt responseTime: Int64) {
    self.responseTime = responseTime
  }

  /// Reads the fields of a header section.
  ///
  /// - Parameter responseTime: When the response was received, in seconds since 1970.
  public init(_ fields: FieldSection, receivedAt responseTime: Int64) {
    self.init(receivedAt: responseTime)
    // A loop over the array would hold on to each line.
    let lines = fields.lines.span
    for index in lines.indices {
      guard let field = lines[index].known.flatMap({ FreshnessField($0) }) else { continue }
      read(lines[index].value.span, of: field)
    }
  }

  /// Reads a value that may be that of several lines of a field, joined by `, `.
  ///
  /// - Returns: Whether it means what the lines did, as far as can be told; otherwise they have to be read apart, from
  ///   the beginning (RFC 9110 §5.3).
  public mutating func read(joined value: Span<UInt8>, of field: FreshnessField) -> Bool {
    read(value, of: field)
    // What is one date is not several.
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

  /// Reads the next line of a field, of most of which the first counts (RFC 9111 §4.2.1).
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
    // A year of two digits is told from when the date was received, so that it does not depend on
    // when it is looked at.
    if let date = HTTPDate.secondsSince1970(value, now: responseTime) { return .number(date) }
    invalidTexts[field] = Array(copying: value)
    return .invalid
  }

  private static func tag(_ value: Span<UInt8>) -> Tag {
    if value.isEmpty { return .empty }
    let form = EntityTag.Form(of: value)
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

  /// What `Age` says (RFC 9111 §5.1).
  public var age: AgeField {
    switch ageReading {
    case .absent: .absent
    case .invalid: .invalid(invalidTexts[.age] ?? [])
    case .number(let seconds): .seconds(seconds)
    }
  }

  /// What `Date` says (RFC 9110 §6.6.1).
  public var date: DateField { dateField(dateReading, .date) }

  /// What `Expires` says (RFC 9111 §5.3).
  public var expires: DateField { dateField(expiresReading, .expires) }

  /// What `Last-Modified` says (RFC 9110 §8.8.2).
  public var lastModified: DateField { dateField(lastModifiedReading, .lastModified) }

  private func dateField(_ reading: Reading, _ field: FreshnessField) -> DateField {
    switch reading {
    case .absent: .absent
    case .invalid: .invalid(invalidTexts[field] ?? [])
    case .number(let date): .date(date)
    }
  }

  /// When the response was generated: its `Date`, or when it was received, if it has no valid one
  /// (RFC 9110 §6.6.1, RFC 9111 §4.2.3).
  public var dateValue: Int64 { dateReading.number ?? responseTime }

  /// How strong the entity tag is, or `nil` if there is none (RFC 9110 §8.8.1).
  public var entityTagStrength: Validators.Strength? {
    switch tag {
    case .absent, .empty: nil
    case .weak: .weak
    case .strong: .strong
    }
  }

  /// How strong `Last-Modified` is, or `nil` if there is none that is a date (RFC 9110 §8.8.2.2).
  public var lastModifiedStrength: Validators.Strength? {
    lastModifiedReading.number.map { Validators.strength(ofLastModified: $0, date: date) }
  }
}
