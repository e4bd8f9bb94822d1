public import Bytes
public import HTTPCaching
public import ResponseStorage

/// The platform whose rules decide what happens with a stored response.
///
/// Differences from RFC 9111 were observed or reported; none is specified.
public enum CachePlatform: String, Hashable, Sendable, CaseIterable {
  /// CFNetwork on Apple systems: RFC 9111 as far as known, with hints where it may differ.
  case apple
  /// Foundation on Linux, as described by ``FoundationReuse``.
  case foundation
  /// WebKit's network cache, as described by ``WebKitReuse``.
  case webkit
  /// RFC 9111 and its extensions, to the letter.
  case rfc9111

  /// Creates the platform that writes stores of a format, which has its name; the specification for formats of no
  /// platform.
  public init(writing format: StoreDescription.Format) {
    self = Self(rawValue: format.rawValue) ?? .rfc9111
  }

  /// Where the platform differs from RFC 9111.
  public var rules: any PlatformRules {
    switch self {
    case .apple: ApplePlatform()
    case .foundation: FoundationPlatform()
    case .webkit: WebKitPlatform()
    case .rfc9111: SpecifiedPlatform()
    }
  }
}

/// Where a platform differs from RFC 9111. Only this, and the words of its reasons, is to be written for another one.
public protocol PlatformRules: Sendable {
  /// What is observed, for people; `nil` for a specification.
  var name: String? { get }

  /// Whether it ever asks a server whether a response is still valid.
  var validates: Bool { get }

  /// Whether it does what the policy of a request says.
  var followsPolicies: Bool { get }

  /// Whether it stores what RFC 9111 allows, and nothing else.
  var storesAsSpecified: Bool { get }

  /// Whether it computes a lifetime from `Last-Modified` (RFC 9111 §4.2.2).
  var hasHeuristic: Bool { get }

  /// Whether a stored response can answer a request with `Authorization`.
  var answersAuthorized: Bool { get }

  /// The smallest capacity with which a cache on disk is opened, in bytes; `nil` if there is none.
  var smallestCapacity: ByteCount? { get }

  /// Returns the length of the largest body that a store of this capacity accepts, in bytes; `nil` if there is no limit.
  func largestBody(of capacity: ByteCount) -> ByteCount?

  /// Returns the lines that the policy of a request adds to it.
  func lines(addedBy policy: RequestCachePolicy) -> [FieldLine]

  /// Decides about a stored response; `nil` if RFC 9111 and the policy of the request decide.
  ///
  /// - Parameter exchange: The exchange of `response`.
  func decision(
    on exchange: borrowing Exchange, _ response: borrowing StoredResponse, for request: Request,
    under policy: RequestCachePolicy, at now: Timestamp
  ) -> PlatformDecision?

  /// Returns the hints that only this platform has.
  ///
  /// - Parameter isFound: Whether the store finds the response for the URL.
  func hints(
    about details: Explanation.Details, _ response: borrowing StoredResponse, isFound: Bool
  ) -> [Hint]

  /// Returns the rules of the platform against storing a response.
  ///
  /// - Parameter exchange: The response; `nil` if only its URL is known.
  func reasons(
    againstStoring exchange: Exchange?, asking inquiry: Inquiry
  ) -> [MissingResponse.Reason]

  /// The versions of the platform that know a policy, for people; empty for all.
  func versions(knowing policy: RequestCachePolicy) -> String
}

/// What a platform with rules of its own does with a stored response.
public struct PlatformDecision: Hashable, Sendable {
  /// What happens.
  public var outcome: RequestCachePolicy.Outcome
  /// Why, the most important first; never empty.
  public var reasons: [Explanation.Reason]
  /// Whether the response is removed if it is not used.
  public var removes: Bool
  /// Whether the response is used now, and validated behind that.
  public var isRevalidatedMeanwhile = false
  /// The lifetime and the age by which the platform decides; `nil` if it computes none of its own.
  public var freshness: Freshness?

  /// A lifetime and an age, in seconds.
  public struct Freshness: Hashable, Sendable {
    /// The lifetime, which can be negative.
    public var lifetime: Double
    /// The source of the lifetime.
    public var source: WebKitReuse.LifetimeSource
    /// The age.
    public var age: Double
  }
}

// What RFC 9111 leaves as it is.
extension PlatformRules {
  public var name: String? { nil }
  public var validates: Bool { true }
  public var followsPolicies: Bool { true }
  public var storesAsSpecified: Bool { true }
  public var hasHeuristic: Bool { true }
  public var answersAuthorized: Bool { true }
  public var smallestCapacity: ByteCount? { nil }

  // CFNetwork stores no body larger than about 5% of the capacity. An archive, which has no platform, most often comes
  // from it.
  public func largestBody(of capacity: ByteCount) -> ByteCount? { capacity / 20 }

  public func lines(addedBy policy: RequestCachePolicy) -> [FieldLine] { policy.addedLines }

  public func decision(
    on exchange: borrowing Exchange, _ response: borrowing StoredResponse, for request: Request,
    under policy: RequestCachePolicy, at now: Timestamp
  ) -> PlatformDecision? { nil }

  public func hints(
    about details: Explanation.Details, _ response: borrowing StoredResponse, isFound: Bool
  ) -> [Hint] { [] }

  public func reasons(
    againstStoring exchange: Exchange?, asking inquiry: Inquiry
  ) -> [MissingResponse.Reason] { [] }

  public func versions(knowing policy: RequestCachePolicy) -> String { "" }
}

/// RFC 9111 to the letter.
private struct SpecifiedPlatform: PlatformRules {}

/// CFNetwork.
private struct ApplePlatform: PlatformRules {
  var name: String? { "CFNetwork" }

  /// Source: `apple-cache.md`, "Capacity".
  var smallestCapacity: ByteCount? { ByteCount(5 << 20) }

  func hints(
    about details: Explanation.Details, _ response: borrowing StoredResponse, isFound: Bool
  ) -> [Hint] {
    var hints: [Hint] = []
    if details.storability.reason == .responseNoStore { hints.append(.noStoreUndocumented) }
    // RFC 9111 §4.2.2 suggests a tenth of the time since `Last-Modified`, and leaves the rest to
    // each cache.
    if details.reuse.freshness.lifetime.source == .heuristic { hints.append(.guessedLifetime) }
    if details.reuse.decision == .useWhileRevalidating { hints.append(.staleUseUndocumented) }
    // Developers reported that a 304 does not extend the stored lifetime on Apple systems, so that
    // every later use is validated again. Apple documents neither.
    if details.conditional.purpose == .validation, !details.reuse.freshness.isFresh {
      hints.append(.expiryNotExtended)
    }
    return hints
  }

  func reasons(
    againstStoring exchange: Exchange?, asking inquiry: Inquiry
  ) -> [MissingResponse.Reason] {
    guard let exchange else { return [] }
    var reasons: [MissingResponse.Reason] = []
    // Apple documents this for `urlSession(_:dataTask:willCacheResponse:)`. Real caches also
    // contain some 301 and 404, so the reason is named after its source.
    if let status = exchange.status, !(200...299).contains(status) { reasons.append(.status) }
    if let limit = inquiry.capacityBytes.flatMap({ largestBody(of: $0) }),
      let length = contentLength(exchange.fields), length > limit
    {
      reasons.append(.largeBody(limit: limit))
    }
    return reasons
  }

  private func contentLength(_ fields: FieldSection) -> ByteCount? {
    fields.firstValue(of: .contentLength).flatMap { bytes in
      Int64(String(decoding: bytes, as: UTF8.self)).map { ByteCount($0) }
    }
  }

  func versions(knowing policy: RequestCachePolicy) -> String {
    switch policy {
    case .reloadIgnoringLocalAndRemoteCacheData, .reloadRevalidatingCacheData:
      "since iOS 13, macOS 10.15"
    default: ""
    }
  }
}
