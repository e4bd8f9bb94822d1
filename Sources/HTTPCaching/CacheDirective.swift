/// One directive of a `Cache-Control` field (RFC 9111 §5.2).
public struct CacheDirective: Hashable, Sendable {
  /// The directives that are known; their case does not matter.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    /// RFC 8246 §2.
    case immutable
    /// RFC 9111 §5.2.1.1 and §5.2.2.1.
    case maxAge = "max-age"
    /// RFC 9111 §5.2.1.2.
    case maxStale = "max-stale"
    /// RFC 9111 §5.2.1.3.
    case minFresh = "min-fresh"
    /// RFC 9111 §5.2.2.2.
    case mustRevalidate = "must-revalidate"
    /// RFC 9111 §5.2.2.3.
    case mustUnderstand = "must-understand"
    /// RFC 9111 §5.2.1.4 and §5.2.2.4.
    case noCache = "no-cache"
    /// RFC 9111 §5.2.1.5 and §5.2.2.5.
    case noStore = "no-store"
    /// RFC 9111 §5.2.1.6 and §5.2.2.6.
    case noTransform = "no-transform"
    /// RFC 9111 §5.2.1.7.
    case onlyIfCached = "only-if-cached"
    /// RFC 9111 §5.2.2.7.
    case `private`
    /// RFC 9111 §5.2.2.8.
    case proxyRevalidate = "proxy-revalidate"
    /// RFC 9111 §5.2.2.9.
    case `public`
    /// RFC 9111 §5.2.2.10.
    case sharedMaxAge = "s-maxage"
    /// RFC 5861 §4.
    case staleIfError = "stale-if-error"
    /// RFC 5861 §3.
    case staleWhileRevalidate = "stale-while-revalidate"
  }

  /// What stands after the name of a directive.
  public enum Argument: Hashable, Sendable {
    /// `=` and a token.
    case token([UInt8])

    /// `=` and a quoted string: what is between the quotation marks, escapes resolved.
    case quoted([UInt8])

    /// Anything else, verbatim: `=` and nothing, or white space around `=`.
    case malformed([UInt8])

    /// The text of a token or a quoted string, which mean the same (RFC 9111 §5.2); `nil` if
    /// malformed.
    public var text: [UInt8]? {
      switch self {
      case .token(let text), .quoted(let text): text
      case .malformed: nil
      }
    }
  }

  /// Which directive it is.
  public let name: Name

  /// Its argument, or `nil` if nothing stands after the name.
  public let argument: Argument?

  /// Reads what stands after the name of a directive.
  static func argument(_ text: ArraySlice<UInt8>) -> Argument? {
    if text.isEmpty { return nil }
    let value = text.dropFirst()
    guard text.first == UInt8(ascii: "=") else { return .malformed(Array(text)) }
    if value.isToken { return .token(Array(value)) }
    if let value = unquoted(value) { return .quoted(value) }
    return .malformed(Array(text))
  }
}

extension CacheDirective.Name {
  private static let known = allCases.map { (Array($0.rawValue.utf8), $0) }

  /// Creates the name of a directive, or `nil` if it is not known.
  init?(_ bytes: some BidirectionalCollection<UInt8>) {
    let bytes = Array(bytes)
    guard let found = Self.known.first(where: { bytes.equalsIgnoringCase($0.0) }) else {
      return nil
    }
    self = found.1
  }
}
