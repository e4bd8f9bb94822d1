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
