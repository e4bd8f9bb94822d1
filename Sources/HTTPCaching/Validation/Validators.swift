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

/// Whether the origin's version differs from the stored one (RFC 9110 §8.8).
///
/// Validators are only compared for equality, never for which is newer: after a rollback or a restored backup, the
/// `Last-Modified` of the origin is older than the stored one.
public enum ValidatorComparison: Hashable, Sendable {
  /// The validator that decided.
  public enum Decider: String, Hashable, Sendable, CaseIterable {
    /// `ETag`, by the weak comparison (RFC 9110 §8.8.3.2).
    case entityTag = "etag"
    /// `Last-Modified`, as times (RFC 9110 §8.8.2).
    case lastModified = "last-modified"
  }

  /// The validators are the same.
  case unchanged(Decider)

  /// The validators differ.
  case changed(Decider)

  /// The validators differ, and the `Last-Modified` of the origin is older than the stored one.
  case rolledBack(Decider)

  /// The two have no kind of validator in common, so only a complete download can decide.
  case unknown

  /// Compares validators. If both have an entity tag, it decides (RFC 9110 §13.2.2).
  public init(stored: Validators, origin: Validators) {
    let ours = stored.lastModified?.secondsSince1970
    let theirs = origin.lastModified?.secondsSince1970
    // An origin that goes by `If-Modified-Since` answers 304 to a date that is later than its own,
    // so it cannot report a rollback itself.
    let isOlder = if let ours, let theirs { theirs < ours } else { false }
    if let tag = stored.entityTag, let other = origin.entityTag {
      self =
        if tag.weaklyEquals(other) {
          .unchanged(.entityTag)
        } else {
          isOlder ? .rolledBack(.entityTag) : .changed(.entityTag)
        }
    } else if let ours, let theirs {
      self =
        if ours == theirs {
          .unchanged(.lastModified)
        } else {
          isOlder ? .rolledBack(.lastModified) : .changed(.lastModified)
        }
    } else {
      self = .unknown
    }
  }
}

/// A 304 response, which confirms that a stored response is still valid (RFC 9111 §4.3.4).
public struct NotModified: Hashable, Sendable {
  /// Whether a 304 applies to a stored response.
  public enum Selection: String, Hashable, Sendable, CaseIterable {
    /// It has the same strong entity tag.
    case sameStrongTag = "same-strong-tag"
    /// It has a weakly equal entity tag.
    case sameWeakTag = "same-weak-tag"
    /// It has the same `Last-Modified` and no entity tag.
    case sameLastModified = "same-last-modified"
    /// Neither response has a validator, and no other response is stored.
    case noValidators = "no-validators"
    /// It has a strong entity tag that the stored response does not have.
    case otherStrongTag = "other-strong-tag"
    /// It has weak validators that the stored response does not have.
    case otherWeakValidator = "other-weak-validator"
    /// It has no validator, but the stored response has one, or there are several stored responses.
    case ambiguous

    /// Whether the 304 may be used to update the stored response (RFC 9111 §4.3.4).
    public var mayUpdate: Bool {
      switch self {
      case .sameStrongTag, .sameWeakTag, .sameLastModified, .noValidators: true
      case .otherStrongTag, .otherWeakValidator, .ambiguous: false
      }
    }
  }

  /// The header section of the 304.
  public let fields: FieldSection

  /// The time at which its request was sent, in seconds since 1970.
  public let requestTime: Int64

  /// The time at which it was received, in seconds since 1970.
  public let responseTime: Int64

  /// Creates a 304 (RFC 9110 §15.4.5).
  public init(fields: FieldSection, requestTime: Int64, responseTime: Int64) {
    self.fields = fields
    self.requestTime = requestTime
    self.responseTime = responseTime
  }

  /// Returns whether and why the 304 applies to a stored response (RFC 9111 §4.3.4).
  ///
  /// - Parameter isOnlyOne: Whether no other response is stored for the same request.
  public func selection(of exchange: Exchange, isOnlyOne: Bool = true) -> Selection {
    let date = DateField(.date, in: fields, now: responseTime)
    let theirs = Validators(fields, date: date, now: responseTime)
    let ours = Validators(of: exchange)
    if let tag = theirs.entityTag {
      // A strong tag selects only a response with the same strong tag (RFC 9111 §4.3.4).
      if tag.isStrong {
        return ours.entityTag?.stronglyEquals(tag) == true ? .sameStrongTag : .otherStrongTag
      }
      return ours.entityTag?.weaklyEquals(tag) == true ? .sameWeakTag : .otherWeakValidator
    }
    if let date = theirs.lastModified {
      // Compared as times, as an origin may write the same date in two of the three forms.
      return ours.lastModified?.secondsSince1970 == date.secondsSince1970
        ? .sameLastModified : .otherWeakValidator
    }
    // Without validators, a 304 only applies to a single stored response that has none either (RFC 9111 §4.3.4).
    return ours.isEmpty && isOnlyOne ? .noValidators : .ambiguous
  }
}
