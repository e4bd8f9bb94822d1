public import Bytes
public import HTTPCaching
public import ResponseStorage

/// Why a cache has no response for a URL, and whether it would have been stored.
public struct MissingResponse: Hashable, Sendable {
  /// A rule against storing.
  public enum Reason: Hashable, Sendable {
    /// Only HTTP is cached.
    case scheme
    /// CFNetwork opens no cache on disk with less than 5 MiB.
    case smallCapacity
    /// RFC 9111 forbids it.
    case specified(Storability.Reason)
    /// Apple documents that only statuses from 200 to 299 are stored.
    case status
    /// Apple documents that bodies larger than about 5% of the capacity are not stored.
    case largeBody(limit: ByteCount)
    /// Foundation on Linux would not use the response, and stores no such responses.
    case foundationRefuses(FoundationReuse.Refusal)
    /// `URLSession` of Foundation on Linux stores nothing; the app has to.
    case foundationStoresNothing
    /// WebKit does not store it.
    case webKitRefuses(WebKitRefusal)

    /// The code of the rule in machine-readable output.
    public var code: String {
      switch self {
      case .scheme: "scheme"
      case .smallCapacity: "small-capacity"
      case .specified(let reason): reason.rawValue
      case .status: "apple-status"
      case .largeBody: "large-body"
      case .foundationRefuses(let refusal): refusal.rawValue
      case .foundationStoresNothing: "foundation-stores-nothing"
      case .webKitRefuses(let refusal): refusal.rawValue
      }
    }

    /// The section of the specification behind the rule, if there is one.
    public var section: Section? {
      guard case .specified(let reason) = self else { return nil }
      return reason.section
    }
  }

  /// The URL.
  public let url: ByteString

  /// The entries that the store returns for the URL nevertheless.
  public let present: [StoredResponse.ID]

  /// The key in a Foundation store, for people; `nil` for other stores, or if the URL has no key.
  public let key: ByteString?

  /// How the store finds the present entries that have other URLs.
  public let lookups: [StoreLookup]

  /// The entries with this URL that the store only returns for another URL.
  public let underOtherKeys: [StoredResponse.ID]

  /// URLs in the cache that only differ by query or fragment, at most three.
  public let near: [ByteString]

  /// The inquiry.
  public let inquiry: Inquiry

  /// Whether RFC 9111 allows storing the response; `nil` if its header fields were not given.
  public let storability: Storability?

  /// The rules against storing, first applicable rule first.
  public let reasons: [Reason]

  /// Looks up a URL, and evaluates the head of its response.
  ///
  /// - Parameter head: The head of the response that should have been stored, if known.
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
    let canonical = CanonicalURL.of(url)
    try source.scan(names.projection.union([.key, .requestDetails, .storage])) { response in
      guard response.isResponse, names.contains(response) else { return .next }
      let lookup = names.lookup(of: response)
      // After a redirect, an Apple cache finds the response by the URL that was requested first.
      var isOther = false
      if case .row = response.id, let requested = response.requestedURL {
        isOther = CanonicalURL.of(requested) != canonical
      }
      if isOther || lookup?.isAnswer == false {
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
    key = source.description.traits.shownKey?(url)
    // Similar URLs only help if the URL is absent, and finding them takes another scan.
    near =
      present.isEmpty ? try NearMisses(to: [url], in: source).urls(near: url) : []
    let exchange = head.map { head in
      Exchange(
        request: Request(targetURI: url.bytes, fields: FieldSection(inquiry.fields)),
        status: head.status, fields: head.fields, responseTime: inquiry.now.wholeSeconds)
    }
    storability = exchange.map { Storability(of: $0) }
    reasons = Self.reasons(url, exchange, storability, inquiry)
  }

  /// Whether the response would have been stored; `nil` if unknown.
  public var wouldBeStored: Bool? {
    if !reasons.isEmpty { return false }
    return storability.map { $0.mayStore || !inquiry.platform.rules.storesAsSpecified }
  }

  /// Returns the outcome of a request with a policy, given that nothing is stored.
  public func outcome(of policy: RequestCachePolicy) -> RequestCachePolicy.Outcome {
    inquiry.platform.rules.followsPolicies
      ? policy.outcome(nil, isFit: false, asking: nil) : .load
  }
}

extension MissingResponse {
  private static func reasons(
    _ url: ByteString, _ exchange: Exchange?, _ storability: Storability?, _ inquiry: Inquiry
  ) -> [Reason] {
    var reasons: [Reason] = []
    let scheme = CanonicalURL.scheme(of: url)
    if scheme != "http", scheme != "https" { reasons.append(.scheme) }
    // With a smaller one, no cache on disk is opened for writing, whatever `diskCapacity` says.
    if let capacity = inquiry.capacityBytes,
      let smallest = inquiry.platform.rules.smallestCapacity, capacity < smallest
    {
      reasons.append(.smallCapacity)
    }
    if let storability, !storability.mayStore, inquiry.platform.rules.storesAsSpecified {
      reasons.append(.specified(storability.reason))
    }
    return reasons + inquiry.platform.rules.reasons(againstStoring: exchange, asking: inquiry)
  }
}

/// URLs in a store that differ from missing URLs only by query or fragment.
public struct NearMisses {
  private static let limit = 3

  private var found: [ByteString: [ByteString]] = [:]

  /// Finds the URLs similar to the given URLs.
  ///
  /// - Complexity: O(*n*), where *n* is the number of entries; keeps the first three for each URL.
  public init(to urls: [ByteString], in source: any ResponseSource) throws {
    for url in urls { found[Self.stem(of: url)] = [] }
    var found = found
    try source.scan(.url) { response in
      guard let url = response.url else { return .next }
      let stem = Self.stem(of: url)
      if let others = found[stem], others.count < Self.limit { found[stem] = others + [url] }
      return .next
    }
    self.found = found
  }

  /// Returns the URLs similar to `url`, at most three, in the order of the store.
  public func urls(near url: ByteString) -> [ByteString] { found[Self.stem(of: url)] ?? [] }

  private static func stem(of url: ByteString) -> ByteString {
    let parts = URLParts(CanonicalURL.of(url).bytes)
    return ByteString(Array(parts.bytes[..<parts.path.endIndex]))
  }
}
