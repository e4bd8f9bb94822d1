/// The caching directives of a request: `Cache-Control` and `Pragma` (RFC 9111 §5.2.1, §5.4).
///
/// Directives with an invalid number are ignored.
public struct RequestDirectives: Hashable, Sendable {
  /// How stale a response may be.
  public enum MaxStale: Hashable, Sendable {
    /// Any staleness: the directive has no argument.
    case any

    /// Stale for at most this many seconds.
    case seconds(Int64)
  }

  /// All directives, as received.
  public let control: CacheControl

  /// Whether `Pragma: no-cache` applies, which it does only without `Cache-Control` (RFC 9111 §5.4).
  public let pragmaNoCache: Bool

  /// Reads the directives of a request (RFC 9111 §5.2.1).
  public init(_ fields: FieldSection) {
    control = CacheControl(fields)
    // `Pragma` is for HTTP/1.0 caches. A client that sends both means what `Cache-Control` says.
    pragmaNoCache = !control.isPresent && fields.hasPragmaNoCache
  }

  /// `no-cache`: the response must be validated before use (RFC 9111 §5.2.1.4).
  public var noCache: Bool { control.contains(.noCache) }

  /// `no-store`: the response must not be stored (RFC 9111 §5.2.1.5).
  public var noStore: Bool { control.contains(.noStore) }

  /// `only-if-cached`: answer with an error rather than use the network (RFC 9111 §5.2.1.7).
  public var onlyIfCached: Bool { control.contains(.onlyIfCached) }

  /// `max-age`: the maximum age, in seconds (RFC 9111 §5.2.1.1).
  public var maxAge: Int64? { control.seconds(.maxAge)?.value }

  /// `min-fresh`: the number of seconds for which the response must remain fresh (RFC 9111 §5.2.1.3).
  public var minFresh: Int64? { control.seconds(.minFresh)?.value }

  /// `max-stale`: how stale the response may be (RFC 9111 §5.2.1.2).
  public var maxStale: MaxStale? {
    guard let directive = control.first(.maxStale) else { return nil }
    // An invalid number is ignored: it must not permit any staleness.
    return directive.argument == nil ? .any : control.seconds(.maxStale)?.value.map { .seconds($0) }
  }

  /// `stale-if-error`: the number of seconds for which a stale response may answer the request if the origin fails (RFC
  /// 5861 §4).
  public var staleIfError: Int64? { control.seconds(.staleIfError)?.value }
}

extension FieldSection {
  /// Whether a `Pragma` line has the member `no-cache` (RFC 9111 §5.4).
  var hasPragmaNoCache: Bool {
    guard contains(.pragma) else { return false }
    return values(of: .pragma).contains { value in
      ListMembers(value).members.contains { CacheDirective.Name($0.span) == .noCache }
    }
  }
}

/// The `Cache-Control` directives of a response, as a private cache understands them (RFC 9111 §5.2.2).
public struct ResponseDirectives: Hashable, Sendable {
  /// All directives, as received.
  public let control: CacheControl

  /// Reads the directives of a response (RFC 9111 §5.2).
  public init(_ fields: FieldSection) {
    control = CacheControl(fields)
  }

  /// Creates the directives of a response from parsed ones (RFC 9111 §5.2.2).
  public init(_ control: CacheControl) {
    self.control = control
  }

  /// `max-age`: the freshness lifetime (RFC 9111 §5.2.2.1).
  public var maxAge: DeltaSeconds? { control.seconds(.maxAge) }

  /// `s-maxage`: the freshness lifetime in shared caches. A private cache ignores it (RFC 9111 §5.2.2.10).
  public var sharedMaxAge: DeltaSeconds? { control.seconds(.sharedMaxAge) }

  /// `no-cache`: the part of the response that must be validated before use (RFC 9111 §5.2.2.4).
  public var noCache: FieldScope? { FieldScope(.noCache, in: control) }

  /// `no-store`: no cache may store the response (RFC 9111 §5.2.2.5).
  public var noStore: Bool { control.contains(.noStore) }

  /// `must-understand`: only a cache that understands the status code may store the response (RFC 9111 §5.2.2.3).
  public var mustUnderstand: Bool { control.contains(.mustUnderstand) }

  /// `must-revalidate`: a stale response must be validated before use (RFC 9111 §5.2.2.2).
  public var mustRevalidate: Bool { control.contains(.mustRevalidate) }

  /// `private`: the part that shared caches must not store. A private cache may (RFC 9111 §5.2.2.7).
  public var isPrivate: FieldScope? { FieldScope(.private, in: control) }

  /// `public`: the response may be stored even if it otherwise could not be (RFC 9111 §5.2.2.9).
  public var isPublic: Bool { control.contains(.public) }

  /// `immutable`: the response does not change while it is fresh (RFC 8246 §2).
  public var immutable: Bool { control.contains(.immutable) }

  /// `stale-while-revalidate`: how long the stale response may be used while it is validated (RFC 5861 §3).
  public var staleWhileRevalidate: DeltaSeconds? { control.seconds(.staleWhileRevalidate) }

  /// `stale-if-error`: how long the stale response may be used if the origin fails (RFC 5861 §4).
  public var staleIfError: DeltaSeconds? { control.seconds(.staleIfError) }

  /// The directives of the response that only shared caches obey (RFC 9111 §5.2.2.8, §5.2.2.10).
  // A user who sees `s-maxage=600` on a server should be told why the app keeps to another number.
  public var forSharedCachesOnly: [CacheDirective] {
    guard control.contains(.sharedMaxAge) || control.contains(.proxyRevalidate) else { return [] }
    return control.directives.filter { $0.name == .sharedMaxAge || $0.name == .proxyRevalidate }
  }
}
