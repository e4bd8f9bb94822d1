/// The validators of a response, with which the origin can be asked whether it has changed (RFC 9110 §8.8).
public struct Validators: Hashable, Sendable {
  /// A `Last-Modified` (RFC 9110 §8.8.2).
  public struct LastModified: Hashable, Sendable {
    /// The value as it was received. It is sent back unchanged.
    public let verbatim: [UInt8]

    /// The date in seconds since 1970.
    public let secondsSince1970: Int64

    /// Whether it is strong: the `Date` is at least 60 seconds later, so that a second change within the same second
    /// would have been noticed (RFC 7232 §2.2.2; RFC 9110 §8.8.2.2 asks for one second).
    public let isStrong: Bool
  }

  /// Whether equal validators mean equal bytes of the body (RFC 9110 §8.8.1).
  public enum Strength: Hashable, Sendable {
    case weak, strong
  }

  /// The strength of a `Last-Modified`, in seconds since 1970, given the `Date` of the same message (RFC 9110
  /// §8.8.2.2).
  static func strength(ofLastModified seconds: Int64, date: DateField) -> Strength {
    // RFC 9110 §8.8.2.2 asks for one second, and for reason to believe that both times are from one
    // clock. The 60 seconds of its predecessor (RFC 7232 §2.2.2) leave room for two clocks, and are
    // what Chromium uses.
    date.secondsSince1970.map { $0.saturatingSubtracting(60) >= seconds } ?? false ? .strong : .weak
  }

  /// The `ETag`, or `nil`.
  public let entityTag: EntityTag?

  /// The `Last-Modified`, or `nil` if there is no valid date.
  public let lastModified: LastModified?

  /// Remarks about malformed and weak validators.
  public let fieldFindings: [FieldFinding]

  /// Reads the validators of a response (RFC 9110 §8.8).
  public init(of exchange: borrowing Exchange) {
    self.init(
      exchange.fields, date: exchange.date, lastModified: exchange.freshnessFields.lastModified)
  }

  /// Reads the validators of a header section (RFC 9110 §8.8).
  ///
  /// - Parameters:
  ///   - date: The `Date` of the same message.
  ///   - now: The moment that resolves years of two digits, in seconds since 1970.
  public init(_ fields: FieldSection, date: DateField, now: Int64) {
    self.init(
      fields, date: date, lastModified: DateField(.lastModified, in: fields, now: now))
  }

  private init(_ fields: FieldSection, date: DateField, lastModified field: DateField) {
    var fieldFindings: [FieldFinding] = []
    // An empty value is not an entity tag.
    let tag = fields.firstValue(of: .entityTag).flatMap { $0.isEmpty ? nil : EntityTag($0) }
    entityTag = tag
    if let tag, !tag.isWellFormed {
      fieldFindings.append(FieldFinding(.malformedEntityTag, .entityTag, tag.verbatim))
    } else if let tag, tag.isWeak {
      fieldFindings.append(FieldFinding(.weakValidator, .entityTag, tag.verbatim))
    }
    switch field {
    case .absent: lastModified = nil
    case .invalid(let text):
      lastModified = nil
      fieldFindings.append(FieldFinding(.invalidLastModified, .lastModified, text))
    case .date(let seconds):
      let isStrong = Self.strength(ofLastModified: seconds, date: date) == .strong
      let verbatim = fields.firstValue(of: .lastModified) ?? []
      lastModified = LastModified(
        verbatim: verbatim, secondsSince1970: seconds, isStrong: isStrong)
      if !isStrong { fieldFindings.append(FieldFinding(.weakValidator, .lastModified, verbatim)) }
      // A date is compared with "later than" by many servers, so a restored backup with an older
      // date looks unchanged.
      if tag == nil {
        fieldFindings.append(FieldFinding(.rollbackUndetectable, .lastModified, verbatim))
      }
    }
    if entityTag == nil, lastModified == nil {
      fieldFindings.append(FieldFinding(.noValidator, nil))
    }
    self.fieldFindings = fieldFindings
  }

  /// Whether there is no validator (RFC 9111 §4.3.1).
  public var isEmpty: Bool { entityTag == nil && lastModified == nil }

  /// The validator for a range request: a strong entity tag or, if there is no tag at all, a strong date; `nil`
  /// otherwise (RFC 9110 §13.1.5).
  public var forRange: [UInt8]? {
    // A date is only allowed in `If-Range` if there is no entity tag (RFC 9110 §13.1.5).
    if let entityTag { return entityTag.isStrong ? entityTag.verbatim : nil }
    return lastModified.flatMap { $0.isStrong ? $0.verbatim : nil }
  }
}
