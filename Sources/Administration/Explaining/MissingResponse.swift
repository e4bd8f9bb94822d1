public import Bytes
public import HTTPCaching
public import ResponseStorage

/// Why a cache has no response for a URL: whether it would have been stored at all.
public struct MissingResponse: Hashable, Sendable {
  /// A rule against storing.
  public enum Obstacle: Hashable, Sendable {
    /// Only HTTP is cached.
    case scheme
    /// CFNetwork opens no cache on disk with less than 5 MiB.
    case smallCapacity
    /// RFC 9111 forbids it.
    case specified(Storability.Reason)
    /// Apple documents that only statuses from 200 to 299 are stored.
    case status
    /// Apple documents that a body of more than about 5 % of the capacity is not stored.
    case largeBody(limit: ByteCount)
    /// Foundation on Linux would not use it, and stores nothing that it would not use.
    case foundationRefuses(FoundationReuse.Obstacle)
    /// `URLSession` of Foundation on Linux stores nothing; an application has to.
    case foundationStoresNothing

    /// The rule, for programs.
    public var code: String {
      switch self {
      case .scheme: "scheme"
      case .smallCapacity: "small-capacity"
      case .specified(let reason): reason.rawValue
      case .status: "apple-status"
      case .largeBody: "large-body"
      case .foundationRefuses(let obstacle): obstacle.rawValue
      case .foundationStoresNothing: "foundation-stores-nothing"
      }
    }

    /// The section of a specification that decides it, if one does.
    public var section: Section? {
      guard case .specified(let reason) = self else { return nil }
      return reason.section
    }
  }

  /// The URL.
  public let url: ByteString

  /// The entries that the store answers it with all the same.
  public let present: [StoredResponse.ID]

  /// What a Foundation store looks it up by, for people; `nil` for another store, or if it has no key.
  public let key: ByteString?

  /// How the store finds those of the entries that are present whose URLs are others.
  public let lookups: [StoreLookup]

  /// The entries that have the URL, and that the store finds by another only.
  public let underOtherKeys: [StoredResponse.ID]

  /// URLs of the cache that differ by query or fragment only, up to three.
  public let near: [ByteString]

  /// What was asked.
  public let inquiry: Inquiry

  /// Whether RFC 9111 would have it stored; `nil` if its header fields were not given.
  public let storability: Storability?

  /// The rules against it, the first that applies first.
  public let obstacles: [Obstacle]

  /// Looks for a URL, and at the head of a response of it.
  ///
  /// - Parameter head: The head of the response that should have been stored, if it is known.
  /// - Complexity: O(*n*), where *n* is the number of entries.
  public init(
    of url: ByteString, head: ResponseHead?, in source: any ResponseSource,
    asking inquiry: Inquiry
  ) throws {
    self.url = url
    self.inquiry = inquiry
    let names = EntryNames([.url(url)])
    var present: [StoredResponse.ID] = []
    var lookups: [StoreLookup] = []
    var underOtherKeys: [StoredResponse.ID] = []
    try source.scan(names.projection) { response in
      guard names.contains(response) else { return .next }
      let lookup = names.lookup(of: response)
      if lookup?.isAnswer == false {
        underOtherKeys.append(response.id)
      } else {
        present.append(response.id)
        if let lookup { lookups.append(lookup) }
      }
      return .next
    }
    self.present = present
    self.lookups = lookups
    self.underOtherKeys = underOtherKeys
    key = source.description.format == .foundation ? FoundationKey(of: url)?.shown : nil
    near =
      present.isEmpty ? try NearMisses(to: [url], in: source).urls(near: url) : []
    let exchange = head.map { head in
      Exchange(
        request: Request(targetURI: url.bytes, fields: FieldSection(inquiry.fields)),
        status: head.status, fields: head.fields, responseTime: inquiry.now.wholeSeconds)
    }
    storability = exchange.map { Storability(of: $0) }
    obstacles = Self.obstacles(url, exchange, storability, inquiry)
  }

  /// Whether the response would have been stored; `nil` if that depends on what was not given.
  public var wouldBeStored: Bool? {
    if !obstacles.isEmpty { return false }
    return storability.map(\.mayStore)
  }

  /// What becomes of a request with a policy, as nothing is stored.
  public func outcome(of policy: RequestCachePolicy) -> RequestCachePolicy.Outcome {
    // Foundation on Linux ignores the policy.
    inquiry.platform == .foundation ? .load : policy.outcome(nil, isFit: false, asking: nil)
  }
}

extension MissingResponse {
  private static func obstacles(
    _ url: ByteString, _ exchange: Exchange?, _ storability: Storability?, _ inquiry: Inquiry
  ) -> [Obstacle] {
    var obstacles: [Obstacle] = []
    let scheme = CanonicalURL.scheme(of: url)
    if scheme != "http", scheme != "https" { obstacles.append(.scheme) }
    if inquiry.platform == .apple, let capacity = inquiry.capacityBytes,
      capacity < UsageReport.smallestCapacity
    {
      obstacles.append(.smallCapacity)
    }
    if let storability, !storability.mayStore { obstacles.append(.specified(storability.reason)) }
    guard let exchange else {
      return obstacles + (inquiry.platform == .foundation ? [.foundationStoresNothing] : [])
    }
    switch inquiry.platform {
    case .rfc9111: break
    case .apple:
      if let status = exchange.status, !(200...299).contains(status) { obstacles.append(.status) }
      if let capacity = inquiry.capacityBytes, let length = contentLength(exchange.fields),
        length > capacity / 20
      {
        obstacles.append(.largeBody(limit: capacity / 20))
      }
    case .foundation:
      let request = exchange.request ?? Request()
      let reuse = FoundationReuse(of: exchange, for: request, at: inquiry.now.wholeSeconds)
      if let obstacle = reuse.obstacle { obstacles.append(.foundationRefuses(obstacle)) }
      obstacles.append(.foundationStoresNothing)
    }
    return obstacles
  }

  private static func contentLength(_ fields: FieldSection) -> ByteCount? {
    fields.firstValue(of: .contentLength).flatMap { bytes in
      Int64(String(decoding: bytes, as: UTF8.self)).map { ByteCount($0) }
    }
  }
}
