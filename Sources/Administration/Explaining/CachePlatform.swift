public import ResponseStorage

/// Whose rules say what becomes of a stored response.
///
/// What differs from RFC 9111 is what was observed, or reported by others; nobody specifies it.
public enum CachePlatform: String, Hashable, Sendable, CaseIterable {
  /// CFNetwork, on Apple's systems: RFC 9111 as far as it is known, with hints where it may differ.
  case apple
  /// Foundation on Linux: what ``FoundationReuse`` says.
  case foundation
  /// RFC 9111 and what is built on it, by the letter.
  case rfc9111

  /// The platform that writes stores of a format; of a format of nobody's own, the specification.
  public init(writing format: StoreDescription.Format) {
    switch format {
    case .apple: self = .apple
    case .foundation: self = .foundation
    default: self = .rfc9111
    }
  }
}
