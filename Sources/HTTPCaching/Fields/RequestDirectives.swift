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
