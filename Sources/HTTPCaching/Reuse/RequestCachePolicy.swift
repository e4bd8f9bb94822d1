import Bytes

/// The cache policy of a request: `NSURLRequest.CachePolicy`, with the raw values of Apple's platforms.
///
/// Foundation on Linux uses other raw values, so never pass a stored number to it. Cases are in the order of Apple's
/// documentation.
public enum RequestCachePolicy: Int, Hashable, Sendable, CaseIterable {
  /// Follow the protocol specification.
  case useProtocolCachePolicy = 0
  /// Load from the origin and ignore the local cache.
  case reloadIgnoringLocalCacheData = 1
  /// Load from the origin and ignore local and intermediate caches.
  // Foundation on Linux numbers the cases in the order of their declaration, so there this policy
  // is 2, which Apple uses for `returnCacheDataElseLoad`.
  case reloadIgnoringLocalAndRemoteCacheData = 4
  /// Use the stored response regardless of its age, or load from the origin if there is none.
  case returnCacheDataElseLoad = 2
  /// Use the stored response regardless of its age, or fail if there is none.
  case returnCacheDataDontLoad = 3
  /// Use the stored response if the origin validates it.
  case reloadRevalidatingCacheData = 5

  /// The older name of ``reloadIgnoringLocalCacheData``, with the same raw value.
  public static let reloadIgnoringCacheData = reloadIgnoringLocalCacheData

  /// All seven names and their policies, in the order of Apple's documentation.
  public static let names: [(name: String, policy: RequestCachePolicy)] = [
    ("useProtocolCachePolicy", .useProtocolCachePolicy),
    ("reloadIgnoringLocalCacheData", .reloadIgnoringLocalCacheData),
    ("reloadIgnoringCacheData", .reloadIgnoringCacheData),
    ("reloadIgnoringLocalAndRemoteCacheData", .reloadIgnoringLocalAndRemoteCacheData),
    ("returnCacheDataElseLoad", .returnCacheDataElseLoad),
    ("returnCacheDataDontLoad", .returnCacheDataDontLoad),
    ("reloadRevalidatingCacheData", .reloadRevalidatingCacheData),
  ]

  /// Creates a policy from a name as it appears in code, ignoring case.
  ///
  /// Accepted are `.useProtocolCachePolicy` as in Swift, `NSURLRequestUseProtocolCachePolicy` as in Objective-C, and
  /// the name without these prefixes.
  public init?(name: String) {
    let written = Array(name.utf8).map(\.asciiLowercased)
    // The longest prefixes first, because `nsurlrequest` begins one of them.
    let prefixes = ["nsurlrequest.cachepolicy.", "urlrequest.cachepolicy.", "nsurlrequest", "."]
    let prefix = prefixes.first { written.starts(with: $0.utf8) } ?? ""
    let word = written.dropFirst(prefix.utf8.count)
    guard
      let found = Self.names.first(where: { known, _ in
        known.utf8.lazy.map(\.asciiLowercased).elementsEqual(word)
      })
    else { return nil }
    self = found.policy
  }
}

extension RequestCachePolicy {
  /// The outcome of a policy for a stored response.
  public enum Outcome: String, Hashable, Sendable, CaseIterable {
    /// The stored response is used, without or before a request to the origin.
    case cache
    /// A conditional request to the origin.
    case conditional
    /// An unconditional request to the origin.
    case load
    /// An error, without using the network.
    case error
    /// The stored data is not enough to decide.
    case unknown
  }

  /// Returns the outcome of the policy for a stored response (RFC 9111 §4).
  ///
  /// - Parameters:
  ///   - reuse: The decision of the protocol, or `nil` if nothing is stored for the request.
  ///   - conditional: The request that would validate the stored response, or `nil`.
  public func outcome(_ reuse: Reuse?, _ conditional: ConditionalRequest?) -> Outcome {
    outcome(reuse?.decision, isFit: reuse?.isFit ?? false, asking: conditional?.purpose)
  }

  /// Returns the outcome of the policy for a stored response, from the values that determine it (RFC 9111 §4).
  ///
  /// - Parameters:
  ///   - decision: The decision of the protocol, or `nil` if nothing is stored for the request.
  ///   - isFit: ``Reuse/isFit``.
  ///   - purpose: The purpose of the request that would validate the stored response, or `nil`.
  public func outcome(
    _ decision: Reuse.Decision?, isFit: Bool, asking purpose: ConditionalRequest.Purpose?
  ) -> Outcome {
    let asking: Outcome =
      switch purpose {
      case .validation, .completion: .conditional
      case .replacement, nil: .load
      }
    let missing: Outcome = self == .returnCacheDataDontLoad ? .error : .load
    guard let decision, decision != .forward else { return missing }
    switch self {
    // Both ignore what is stored, so not even an unknown `Vary` matters.
    case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: return .load
    case .useProtocolCachePolicy:
      switch decision {
      case .useStored, .useWhileRevalidating: return .cache
      case .validate: return asking
      case .gatewayTimeout: return .error
      case .forward: return missing
      case .unknown: return .unknown
      }
    case .reloadRevalidatingCacheData: return decision == .unknown ? .unknown : asking
    case .returnCacheDataElseLoad, .returnCacheDataDontLoad:
      // Whether CFNetwork compares `Vary` for these policies is not documented. WebKit does.
      if decision == .unknown { return .unknown }
      // These policies ignore age, but an incomplete body cannot answer a request.
      return isFit ? .cache : missing
    }
  }

  /// The field lines that the policy adds to the request (RFC 9111 §5.2.1.4).
  public var addedLines: [FieldLine] {
    guard self == .reloadIgnoringLocalAndRemoteCacheData else { return [] }
    return [FieldLine(name: Array("Cache-Control".utf8), value: Array("no-cache".utf8))]
  }
}
