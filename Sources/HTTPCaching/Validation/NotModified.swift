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
