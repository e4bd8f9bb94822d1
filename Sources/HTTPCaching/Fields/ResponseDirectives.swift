/// What the `Cache-Control` of a response means to a private cache (RFC 9111 §5.2.2).
public struct ResponseDirectives: Hashable, Sendable {
  /// All directives, as they were written.
  public let control: CacheControl

  /// Reads the directives of a response (RFC 9111 §5.2).
  public init(_ fields: FieldSection) {
    control = CacheControl(fields)
  }

  /// Takes the directives of a response (RFC 9111 §5.2.2).
  public init(_ control: CacheControl) {
    self.control = control
  }

  /// `max-age`: how long the response is fresh (RFC 9111 §5.2.2.1).
  public var maxAge: DeltaSeconds? { control.seconds(.maxAge) }

  /// `s-maxage`: the same for shared caches; a private cache ignores it (RFC 9111 §5.2.2.10).
  public var sharedMaxAge: DeltaSeconds? { control.seconds(.sharedMaxAge) }

  /// `no-cache`: what must not be used without asking the origin (RFC 9111 §5.2.2.4).
  public var noCache: FieldScope? { FieldScope(.noCache, in: control) }

  /// `no-store`: no cache may store the response (RFC 9111 §5.2.2.5).
  public var noStore: Bool { control.contains(.noStore) }

  /// `must-understand`: only a cache that knows the status may store the response
  /// (RFC 9111 §5.2.2.3).
  public var mustUnderstand: Bool { control.contains(.mustUnderstand) }

  /// `must-revalidate`: once stale, not to be used without asking the origin (RFC 9111 §5.2.2.2).
  public var mustRevalidate: Bool { control.contains(.mustRevalidate) }

  /// `private`: what shared caches must not store; a private cache may (RFC 9111 §5.2.2.7).
  public var isPrivate: FieldScope? { FieldScope(.private, in: control) }

  /// `public`: may be stored even where something else would forbid it (RFC 9111 §5.2.2.9).
  public var isPublic: Bool { control.contains(.public) }

  /// `immutable`: does not change while it is fresh (RFC 8246 §2).
  public var immutable: Bool { control.contains(.immutable) }

  /// `stale-while-revalidate`: for how long it may be used stale while it is validated
  /// (RFC 5861 §3).
  public var staleWhileRevalidate: DeltaSeconds? { control.seconds(.staleWhileRevalidate) }

  /// `stale-if-error`: for how long it may be used stale if the origin fails (RFC 5861 §4).
  public var staleIfError: DeltaSeconds? { control.seconds(.staleIfError) }

  /// The directives that mean something to shared caches only, as far as they are there
  /// (RFC 9111 §5.2.2.8, §5.2.2.10).
  public var forSharedCachesOnly: [CacheDirective] {
    guard control.contains(.sharedMaxAge) || control.contains(.proxyRevalidate) else { return [] }
    return control.directives.filter { $0.name == .sharedMaxAge || $0.name == .proxyRevalidate }
  }
}
