public import ResponseStorage

/// The platform whose rules decide what happens with a stored response.
///
/// Differences from RFC 9111 were observed or reported; none is specified.
public enum CachePlatform: String, Hashable, Sendable, CaseIterable {
  /// CFNetwork on Apple systems: RFC 9111 as far as known, with hints where it may differ.
  case apple
  /// Foundation on Linux, as described by ``FoundationReuse``.
  case foundation
  /// RFC 9111 and its extensions, to the letter.
  case rfc9111

  /// Creates the platform that writes stores of a format; the specification for formats of no platform.
  public init(writing format: StoreDescription.Format) {
    switch format {
    case .apple: self = .apple
    case .foundation: self = .foundation
    default: self = .rfc9111
    }
  }
}
