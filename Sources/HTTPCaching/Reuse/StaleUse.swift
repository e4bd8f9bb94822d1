/// Whether a stale response may be used without validation (RFC 9111 §4.2.4, RFC 5861).
public struct StaleUse: Hashable, Sendable {
  /// A directive that forbids any use of a stale response.
  public enum Prohibition: String, Hashable, Sendable, CaseIterable {
    /// RFC 9111 §5.2.2.2.
    case mustRevalidate = "must-revalidate"
    /// RFC 9111 §5.2.2.4.
    case noCache = "no-cache"

    /// The section that applies.
    public var section: Section {
      switch self {
      case .mustRevalidate: .caching("5.2.2.2")
      case .noCache: .caching("5.2.2.4")
      }
    }
  }

  /// A period after the lifetime in which a stale response may be used.
  public enum Window: Hashable, Sendable {
    /// The response is fresh; a window of `seconds` will follow.
    case ahead(seconds: Int64)
    /// The window is open for `remaining` more seconds.
    case open(remaining: Int64)
    /// The window closed `since` seconds ago.
    case closed(since: Int64)
    /// A prohibition overrides the directive.
    case void(Prohibition)
    /// The directive has no valid number and is ignored.
    case invalid([UInt8])

    /// Whether the window alone permits the use of the response now (RFC 9111 §4.2.4).
    public var isOpen: Bool {
      if case .open = self { true } else { false }
    }
  }

  /// The directive that forbids any use of a stale response, or `nil`.
  public let prohibition: Prohibition?

  /// `stale-while-revalidate`: the response may be used while it is validated (RFC 5861 §3); `nil` if the directive is
  /// absent.
  public let whileRevalidating: Window?

  /// `stale-if-error`: the response may be used if the origin fails (RFC 5861 §4); `nil` if neither the response nor
  /// the request has the directive.
  public let ifError: Window?

  /// Evaluates the directives of a response (RFC 9111 §4.2.4).
  ///
  /// - Parameter request: The directives of the presented request. The longer `stale-if-error` of request and response
  ///   applies.
  public init(
    of exchange: borrowing Exchange, freshness: Freshness, request: RequestDirectives? = nil
  ) {
    let directives = exchange.directives
    let prohibition: Prohibition? =
      // `proxy-revalidate` is missing, as it binds shared caches only.
      if directives.mustRevalidate {
        .mustRevalidate
      } else if directives.noCache == .wholeResponse {
        .noCache
      } else {
        nil
      }
    self.prohibition = prohibition
    func window(_ seconds: DeltaSeconds) -> Window {
      switch seconds {
      case .invalid(let text): .invalid(text)
      case .seconds(let length): Window(length, freshness, prohibition)
      }
    }
    whileRevalidating = directives.staleWhileRevalidate.map(window)
    let byRequest = request?.staleIfError
    let byResponse = directives.staleIfError
    // A missing or invalid number in the response is less than any number in the request.
    ifError =
      if let byRequest, byRequest > byResponse?.value ?? -1 {
        window(.seconds(byRequest))
      } else {
        byResponse.map(window)
      }
  }
}

extension StaleUse.Window {
  /// Creates the window of a length: open while the response has been stale for less than that (RFC 5861 §3, §4).
  fileprivate init(
    _ length: Int64, _ freshness: Freshness, _ prohibition: StaleUse.Prohibition?
  ) {
    let stale = freshness.staleSeconds
    self =
      if let prohibition {
        .void(prohibition)
      } else if freshness.isFresh {
        .ahead(seconds: length)
      } else if stale < length {
        // Strictly less: RFC 5861 allows the use for up to that number of seconds after the response
        // became stale, and second 0 is the first of them.
        .open(remaining: length - stale)
      } else {
        .closed(since: stale - length)
      }
  }
}
