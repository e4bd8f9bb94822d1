import Bytes

/// One directive of a `Cache-Control` field (RFC 9111 §5.2).
public struct CacheDirective: Hashable, Sendable {
  /// The known directives. Names are compared ignoring case.
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

  /// The part of a directive after its name.
  public enum Argument: Hashable, Sendable {
    /// `=` and a token.
    case token([UInt8])

    /// `=` and a quoted string: the text between the quotation marks, unescaped.
    case quoted([UInt8])

    /// Anything else, verbatim: `=` without a value, or white space around `=`.
    case malformed([UInt8])

    /// The text of a token or a quoted string, which are equivalent (RFC 9111 §5.2); `nil` if malformed.
    public var text: [UInt8]? {
      switch self {
      case .token(let text), .quoted(let text): text
      case .malformed: nil
      }
    }
  }

  /// The name of the directive.
  public let name: Name

  /// The argument, or `nil` if there is nothing after the name.
  public let argument: Argument?

  /// The seconds in an argument (RFC 9111 §1.2.2).
  static func seconds(_ argument: Argument?) -> DeltaSeconds {
    switch argument {
    case nil: .invalid([])
    case .malformed(let text): .invalid(text)
    case .token(let text), .quoted(let text): DeltaSeconds(text)
    }
  }

  /// The seconds in the text after the name of a directive.
  static func seconds(_ text: Span<UInt8>) -> DeltaSeconds {
    // The text is nearly always digits, which need not be copied.
    if text.count > 1, text[0] == UInt8(ascii: "="),
      case .seconds(let seconds) = DeltaSeconds(text.extracting(droppingFirst: 1))
    {
      return .seconds(seconds)
    }
    return seconds(argument(text))
  }

  /// Parses the text after the name of a directive.
  static func argument(_ text: Span<UInt8>) -> Argument? {
    if text.isEmpty { return nil }
    // The grammar has no space around the sign, so `max-age = 5` has no valid value (RFC 9111
    // §5.2).
    guard text[0] == UInt8(ascii: "=") else { return .malformed(Array(copying: text)) }
    let value = text.extracting(1...)
    if !value.isEmpty, value.tokenLength == value.count { return .token(Array(copying: value)) }
    // Both forms are accepted for each directive, as RFC 9111 §5.2 asks of recipients.
    if let value = unquoted(value) { return .quoted(value) }
    return .malformed(Array(copying: text))
  }
}

extension CacheDirective.Name {
  private static let table = NameTable(allCases.map(\.rawValue))

  /// The index among all names, from 0.
  var place: Int {
    switch self {
    case .immutable: 0
    case .maxAge: 1
    case .maxStale: 2
    case .minFresh: 3
    case .mustRevalidate: 4
    case .mustUnderstand: 5
    case .noCache: 6
    case .noStore: 7
    case .noTransform: 8
    case .onlyIfCached: 9
    case .private: 10
    case .proxyRevalidate: 11
    case .public: 12
    case .sharedMaxAge: 13
    case .staleIfError: 14
    case .staleWhileRevalidate: 15
    }
  }

  /// Creates the name of a directive, or `nil` if the directive is unknown.
  init?(_ name: Span<UInt8>) {
    // The shortest name, `public`, has six letters.
    guard name.count > 5,
      let candidate = Self.candidate(length: name.count, sixth: name[5].asciiLowercased),
      Self.table.matches(name, at: candidate.place)
    else { return nil }
    self = candidate
  }

  /// The only name with this length and this sixth letter. One comparison then decides, without hashing.
  private static func candidate(length: Int, sixth: UInt8) -> Self? {
    switch (length, sixth) {
    case (6, UInt8(ascii: "c")): .public
    case (7, UInt8(ascii: "g")): .maxAge
    case (7, UInt8(ascii: "t")): .private
    case (8, UInt8(ascii: "a")): .sharedMaxAge
    case (8, UInt8(ascii: "c")): .noCache
    case (8, UInt8(ascii: "o")): .noStore
    case (9, UInt8(ascii: "a")): .immutable
    case (9, UInt8(ascii: "r")): .minFresh
    case (9, UInt8(ascii: "t")): .maxStale
    case (12, UInt8(ascii: "a")): .noTransform
    case (14, UInt8(ascii: "-")): .staleIfError
    case (14, UInt8(ascii: "i")): .onlyIfCached
    case (15, UInt8(ascii: "r")): .mustRevalidate
    case (15, UInt8(ascii: "u")): .mustUnderstand
    case (16, UInt8(ascii: "-")): .proxyRevalidate
    case (22, UInt8(ascii: "-")): .staleWhileRevalidate
    default: nil
    }
  }
}
