import Bytes

/// What a request asks of `URLCache`: `NSURLRequest.CachePolicy`, with the numbers of Apple's
/// platforms.
///
/// Foundation on Linux numbers its cases otherwise, so that a stored number must not be given to
/// it. Cases are in the order of Apple's documentation.
public enum RequestCachePolicy: Int, Hashable, Sendable, CaseIterable {
  /// As the specification of the protocol has it.
  case useProtocolCachePolicy = 0
  /// From the origin, whatever is stored.
  case reloadIgnoringLocalCacheData = 1
  /// From the origin, whatever is stored here or on the way.
  case reloadIgnoringLocalAndRemoteCacheData = 4
  /// What is stored, however old; from the origin if nothing is.
  case returnCacheDataElseLoad = 2
  /// What is stored, however old; an error if nothing is.
  case returnCacheDataDontLoad = 3
  /// What is stored, if the origin says that it is still good.
  case reloadRevalidatingCacheData = 5

  /// The older name of ``reloadIgnoringLocalCacheData``, with the same number.
  public static let reloadIgnoringCacheData = reloadIgnoringLocalCacheData

  /// All seven names with their policies, in the order of Apple's documentation.
  public static let names: [(name: String, policy: RequestCachePolicy)] = [
    ("useProtocolCachePolicy", .useProtocolCachePolicy),
    ("reloadIgnoringLocalCacheData", .reloadIgnoringLocalCacheData),
    ("reloadIgnoringCacheData", .reloadIgnoringCacheData),
    ("reloadIgnoringLocalAndRemoteCacheData", .reloadIgnoringLocalAndRemoteCacheData),
    ("returnCacheDataElseLoad", .returnCacheDataElseLoad),
    ("returnCacheDataDontLoad", .returnCacheDataDontLoad),
    ("reloadRevalidatingCacheData", .reloadRevalidatingCacheData),
  ]

  /// Creates a policy from one of its names, as code writes them.
  ///
  /// That is `.useProtocolCachePolicy` in Swift, `NSURLRequestUseProtocolCachePolicy` in Objective-C, and the name
  /// without what stands before it in either; the case of letters does not matter.
  public init?(name: String) {
    let written = Array(name.utf8).map(\.asciiLowercased)
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
  /// What a policy leads to.
  public enum Outcome: String, Hashable, Sendable, CaseIterable {
    /// The stored response, without the network or before it.
    case cache
    /// A conditional request to the origin.
    case conditional
    /// A request to the origin for all of it.
    case load
    /// An error, and no network.
    case error
    /// What is stored does not tell.
    case unknown
  }

  /// What the policy leads to for a stored response (RFC 9111 §4).
  ///
  /// - Parameters:
  ///   - reuse: What the protocol does, or `nil` if nothing is stored for the request.
  ///   - conditional: The request that would be sent to validate the stored response, or `nil`.
  public func outcome(_ reuse: Reuse?, _ conditional: ConditionalRequest?) -> Outcome {
    outcome(reuse?.decision, isFit: reuse?.isFit ?? false, asking: conditional?.purpose)
  }

  /// What the policy leads to for a stored response, by all that it depends on (RFC 9111 §4).
  ///
  /// - Parameters:
  ///   - decision: What the protocol does, or `nil` if nothing is stored for the request.
  ///   - isFit: ``Reuse/isFit``.
  ///   - purpose: What the request would be for that validates the stored response, or `nil`.
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
      if decision == .unknown { return .unknown }
      // Age does not matter to these, but part of a body is no answer.
      return isFit ? .cache : missing
    }
  }

  /// The lines that the policy adds to the request (RFC 9111 §5.2.1.4).
  public var addedLines: [FieldLine] {
    guard self == .reloadIgnoringLocalAndRemoteCacheData else { return [] }
    return [FieldLine(name: Array("Cache-Control".utf8), value: Array("no-cache".utf8))]
  }
}
