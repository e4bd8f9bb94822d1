/// A 304 response, which says that a stored response is still good (RFC 9111 §4.3.4).
public struct NotModified: Hashable, Sendable {
  /// Whether a 304 is about a stored response.
  public enum Selection: String, Hashable, Sendable, CaseIterable {
    /// It has the same strong entity tag.
    case sameStrongTag = "same-strong-tag"
    /// It has an entity tag that is weakly the same.
    case sameWeakTag = "same-weak-tag"
    /// It has the same `Last-Modified`, and no entity tag.
    case sameLastModified = "same-last-modified"
    /// Neither has a validator, and nothing else is stored.
    case noValidators = "no-validators"
    /// It has a strong entity tag, and the stored response has not.
    case otherStrongTag = "other-strong-tag"
    /// It has weak validators, and the stored response has others.
    case otherWeakValidator = "other-weak-validator"
    /// It has no validator, but the stored response has, or there are several.
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

  /// When its request was sent, in seconds since 1970.
  public let requestTime: Int64

  /// When it was received, in seconds since 1970.
  public let responseTime: Int64

  /// Creates a 304 (RFC 9110 §15.4.5).
  public init(fields: FieldSection, requestTime: Int64, responseTime: Int64) {
    self.fields = fields
    self.requestTime = requestTime
    self.responseTime = responseTime
  }

  /// Tells whether the 304 is about a stored response (RFC 9111 §4.3.4).
  ///
  /// - Parameter isOnlyOne: Whether no other response is stored for the same request.
  public func selection(of exchange: Exchange, isOnlyOne: Bool = true) -> Selection {
    let date = DateField(.date, in: fields, now: responseTime)
    let theirs = Validators(fields, date: date, now: responseTime)
    let ours = Validators(of: exchange)
    if let tag = theirs.entityTag {
      if tag.isStrong {
        return ours.entityTag?.stronglyEquals(tag) == true ? .sameStrongTag : .otherStrongTag
      }
      return ours.entityTag?.weaklyEquals(tag) == true ? .sameWeakTag : .otherWeakValidator
    }
    if let date = theirs.lastModified {
      return ours.lastModified?.secondsSince1970 == date.secondsSince1970
        ? .sameLastModified : .otherWeakValidator
    }
    return ours.isEmpty && isOnlyOne ? .noValidators : .ambiguous
  }
}
