import ResponseStorage

extension UsageReport {
  /// What entries are grouped by.
  public enum Grouping: String, Hashable, Sendable, CaseIterable {
    case host, mime, status, method, scheme, partition
    case storagePolicy = "storage-policy"
    /// By whether they are fresh: ``ResponseFreshness/State``.
    case freshness
    /// By how long ago they were stored, in ranges.
    case age
    /// By the sizes of their bodies, in ranges.
    case size

    /// Whether the groups are ranges, which have an order of their own; others come the largest first.
    public var hasRanges: Bool { self == .age || self == .size }
  }
}

extension UsageReport.Grouping {
  /// What has to be decoded of a response to tell its group.
  var projection: Projection {
    switch self {
    case .host, .scheme: .url
    case .mime: .mimeType
    case .status: .status
    case .method: .method
    case .partition, .storagePolicy: .storage
    case .freshness: ResponseFreshness.projection
    case .age: .stored
    case .size: .body
    }
  }

  /// What the entries of a group have in common; `nil` if it is not known, or if the groups are ranges.
  ///
  /// - Parameters:
  ///   - now: The moment at which a response is fresh or stale.
  ///   - rules: The expiries of an application's own, which count for that.
  func key(
    of response: borrowing StoredResponse, at now: Timestamp, rules: [UserInfoExpiry.Rule]
  ) -> ByteString? {
    switch self {
    case .host: response.url.flatMap { CanonicalURL.host(of: $0) }
    case .mime: response.mimeType?.asciiLowercased
    case .status: response.status.map { ByteString(String($0)) }
    case .method: response.request.method
    case .scheme: response.url.flatMap { CanonicalURL.scheme(of: $0) }
    case .partition: response.partition
    case .storagePolicy: response.storagePolicy.map { $0.name }
    case .freshness:
      ResponseFreshness(of: response, at: now, rules: rules).map {
        ByteString($0.state.rawValue)
      }
    case .age, .size: nil
    }
  }
}

extension StoredResponse.StoragePolicy {
  /// The word for the policy, or its number.
  fileprivate var name: ByteString {
    switch self {
    case .allowed: "allowed"
    case .allowedInMemoryOnly: "memory-only"
    case .notAllowed: "not-allowed"
    case .unknown(let number): ByteString(String(number))
    }
  }
}
