public import Bytes
import HTTPCaching
public import Matching
public import ResponseStorage

/// The criteria for selecting entries that mean the same at any time: all must match, each by any of its values.
public struct EntryCriteria: Sendable {
  /// URL prefixes, compared by bytes with the stored URL, or with the key if there is no URL; ``globs`` and
  /// ``expressions`` are compared likewise. One of the spellings of the host has to match.
  public var prefixes: [URLPrefix] = []
  /// Patterns for whole URLs.
  public var globs: [Glob] = []
  /// Regular expressions for whole URLs; they never match a URL that is not UTF-8.
  public var expressions: [RegularExpression] = []
  /// Hosts, in any spelling; `.example.com` matches that host and all its subdomains.
  public var hosts: [HostPattern] = []
  /// Query parameters of the URL.
  public var parameters: [ParameterCriterion] = []
  /// Header fields of the response.
  public var headers: [HeaderCriterion] = []
  /// Header fields of the request.
  public var requestHeaders: [HeaderCriterion] = []
  /// Texts, one of which the body must contain, after decoding it.
  ///
  /// This depends on bodies: call ``Selection/prepare(for:at:)`` before any decision.
  public var texts: [ByteString] = []
  /// Methods, ignoring case.
  public var methods: [ByteString] = []
  /// Statuses.
  public var statuses: [ClosedRange<Int64>] = []
  /// Lowercase patterns for media types, which match in any case.
  public var mimeTypes: [Glob] = []
  /// Matches bodies larger than this number of bytes; a missing body is neither larger nor smaller.
  public var largerThan: ByteCount?
  /// Matches bodies smaller than this number of bytes.
  public var smallerThan: ByteCount?
  /// The locations of bodies.
  public var bodyLocations: Set<StoredResponse.BodyLocation> = []
  /// Cache partitions.
  public var partitions: Set<ByteString> = []
  /// Whether to match only partial bodies, as defined by ``BodyCompleteness``.
  public var isPartial = false
  /// The storage policies of responses.
  public var storagePolicies: Set<StoredResponse.StoragePolicy> = []
  /// The required properties in `userInfo`.
  public var userInfo: [PropertyCriterion] = []
  /// The freshness of responses.
  public var freshness: Set<ResponseFreshness.State> = []
  /// Matches fresh responses that become stale within this number of seconds.
  public var expiresWithin: Double?
  /// The kinds of validators of responses.
  public var validators: Set<ResponseFreshness.ValidatorKind> = []
  /// Expressions, one of which must match.
  public var conditions: [Condition] = []
  /// Whether to match only older versions of resources that are also stored in a newer version.
  ///
  /// This depends on all entries of a cache: call ``Selection/prepare(for:)`` before any decision.
  public var selectsSuperseded = false

  /// Creates criteria that match every response.
  public init() {}
}

/// Suggests corrections of misspelled words.
public enum Spelling {
  /// Returns the word most similar to `word`, if few enough letters differ; the first of equally similar words.
  ///
  /// Up to two letters may differ, but only one of a short word: with two other letters, `find` is `pin`.
  public static func nearest(to word: String, among words: some Sequence<String>) -> String? {
    let nearest = words.map { ($0, distance(word, $0)) }.min { $0.1 < $1.1 }
    let most =
      switch word.utf8.count {
      case ...2: 0
      case ...5: 1
      default: 2
      }
    return nearest.flatMap { $0.1 <= most ? $0.0 : nil }
  }

  /// Returns the number of letters to change, add, drop or swap with the next one to turn one word into the other
  /// (optimal string alignment).
  private static func distance(_ first: String, _ second: String) -> Int {
    let second = Array(second.utf8)
    // Limit the length, so that a long word takes no long time.
    let first = Array(first.utf8.prefix(64))
    var rows = [Array(0...second.count)]
    for (index, letter) in first.enumerated() {
      var row = [index + 1]
      for (column, other) in second.enumerated() {
        let cost = letter == other ? 0 : 1
        var distance = min(rows[index][column] + cost, rows[index][column + 1] + 1, row[column] + 1)
        if index > 0, column > 0, letter == second[column - 1], first[index - 1] == other {
          distance = min(distance, rows[index - 1][column - 1] + 1)
        }
        row.append(distance)
      }
      rows.append(row)
    }
    return rows[first.count][second.count]
  }
}

/// The time from which the age of a response counts.
public enum AgeBasis: Hashable, Sendable {
  /// The time at which it was last stored or refreshed.
  case stored
  /// The time at which it was first stored.
  case firstStored
  /// Its `Date` header field.
  case date
  /// Its `Last-Modified` header field.
  case lastModified
  /// A date that the app attached under a key.
  case userInfo(ByteString)

  /// Creates a basis from its name: `stored`, `first-stored`, `date`, `last-modified` or
  /// `user-info:KEY`.
  public init?(name: String) {
    switch name {
    case "stored": self = .stored
    case "first-stored": self = .firstStored
    case "date": self = .date
    case "last-modified": self = .lastModified
    default:
      let prefix = "user-info:"
      guard name.utf8.starts(with: prefix.utf8), name.utf8.count > prefix.utf8.count else {
        return nil
      }
      self = .userInfo(ByteString(Array(name.utf8.dropFirst(prefix.utf8.count))))
    }
  }

  /// The fields that ``time(of:now:)`` needs.
  public var projection: Projection {
    switch self {
    case .stored: .stored
    case .firstStored: .firstStored
    case .date, .lastModified: .responseHeaders
    case .userInfo: .userInfo
    }
  }

  /// Returns the time of a response; `nil` if unknown.
  public func time(of response: borrowing StoredResponse, now: Timestamp) -> Timestamp? {
    switch self {
    case .stored: return response.stored
    case .firstStored: return response.firstStored
    case .date: return Self.date(response.responseHeaders?.firstValue(named: "date"), now)
    case .lastModified:
      return Self.date(response.responseHeaders?.firstValue(named: "last-modified"), now)
    case .userInfo(let key):
      guard case .date(let time) = response.userInfo.value(for: key) else { return nil }
      return time
    }
  }

  private static func date(_ value: ByteString?, _ now: Timestamp) -> Timestamp? {
    value.flatMap {
      // Dates in the format of RFC 850 have two digits for the year. A year more than 50 years
      // ahead of now means the past (RFC 9110 §5.6.7).
      HTTPDate.secondsSince1970($0.bytes, now: now.wholeSeconds)
    }.flatMap { Timestamp(secondsSince1970: Double($0)) }
  }
}

/// Criteria of single options, all of which must match.
extension EntryCriteria {
  /// Whether the host is one of ``hosts``.
  func matchesHost(_ response: borrowing StoredResponse) -> Bool {
    guard let host = response.url.flatMap({ CanonicalURL.comparedHost(of: $0) }) else {
      return false
    }
    return hosts.contains { $0.covers(host) }
  }

  /// Whether the query has one of ``parameters``.
  func matchesParameter(_ response: borrowing StoredResponse) -> Bool {
    guard let url = response.url else { return false }
    return parameters.contains { $0.holds(in: url) }
  }

  /// Whether the header fields match.
  func matchesHeaders(_ response: borrowing StoredResponse) -> Bool {
    if !headers.isEmpty {
      let fields = response.responseHeaders
      guard headers.contains(where: { $0.holds(in: fields) }) else { return false }
    }
    guard !requestHeaders.isEmpty else { return true }
    let fields = response.request.headers
    return requestHeaders.contains { $0.holds(in: fields) }
  }

  /// All texts that bodies are searched for.
  var allTexts: Set<ByteString> {
    Set(texts + conditions.flatMap(\.bodyTexts))
  }

  /// Whether there is a pattern for whole URLs or a prefix.
  var hasPatterns: Bool { !prefixes.isEmpty || !globs.isEmpty || !expressions.isEmpty }

  /// Whether the URL matches the prefixes, patterns and expressions.
  func matchesPattern(
    _ response: borrowing StoredResponse
  ) throws(RegularExpression.Overrun) -> Bool {
    guard let url = response.url ?? response.key else { return false }
    // Nearly all URLs have one spelling: an array of it would need an allocation for each.
    if CanonicalURL.hasPlainHost(url.bytes) {
      guard prefixes.isEmpty || matchesPrefix(url), globs.isEmpty || matchesGlob(url) else {
        return false
      }
      if expressions.isEmpty { return true }
      return try matchesExpression(url)
    }
    let spellings = CanonicalURL.spellings(of: url)
    guard prefixes.isEmpty || spellings.contains(where: matchesPrefix),
      globs.isEmpty || spellings.contains(where: matchesGlob)
    else { return false }
    if expressions.isEmpty { return true }
    for spelling in spellings where try matchesExpression(spelling) { return true }
    return false
  }

  private func matchesPrefix(_ url: ByteString) -> Bool {
    prefixes.contains { $0.begins(url) }
  }

  private func matchesGlob(_ url: ByteString) -> Bool {
    globs.contains { $0.matches(url) }
  }

  private func matchesExpression(_ url: ByteString) throws(RegularExpression.Overrun) -> Bool {
    for expression in expressions where try expression.matches(url) { return true }
    return false
  }

  /// Whether the method, status and media type match.
  func matchesMessage(_ response: borrowing StoredResponse) -> Bool {
    if !methods.isEmpty {
      // A Foundation store keeps no request, so no method selects its entries.
      guard let method = response.request.method,
        methods.contains(where: { $0.equalsIgnoringASCIICase(method) })
      else { return false }
    }
    if !statuses.isEmpty {
      guard let status = response.status, statuses.contains(where: { $0.contains(status) }) else {
        return false
      }
    }
    guard !mimeTypes.isEmpty else { return true }
    guard let type = response.mimeType?.asciiLowercased else { return false }
    return mimeTypes.contains { $0.matches(type) }
  }

  /// Whether the partition, the storage policy and what the app attached match.
  func matchesStorage(_ response: borrowing StoredResponse) -> Bool {
    (partitions.isEmpty || response.partition.map({ partitions.contains($0) }) ?? false)
      && (storagePolicies.isEmpty || response.storagePolicy.map(storagePolicies.contains) ?? false)
      && (userInfo.isEmpty || userInfo.contains { $0.holds(in: response.userInfo) })
  }

  /// Whether any criterion but expressions depends on freshness.
  var asksForFreshness: Bool {
    !freshness.isEmpty || expiresWithin != nil || !validators.isEmpty
  }

  /// Whether any criterion depends on freshness.
  var needsFreshness: Bool {
    asksForFreshness || conditions.contains(where: \.needsFreshness)
  }

  /// Whether the freshness and the validators match.
  func matches(_ found: ResponseFreshness) -> Bool {
    (freshness.isEmpty || freshness.contains(found.state))
      && (expiresWithin.map { found.expires(within: $0) } ?? true)
      && (validators.isEmpty || validators.contains { found.has($0) })
  }

  /// Whether the location and size of the body match.
  func matchesBody(_ response: borrowing StoredResponse) -> Bool {
    if !bodyLocations.isEmpty {
      guard let location = response.bodyLocation, bodyLocations.contains(location) else {
        return false
      }
    }
    guard largerThan != nil || smallerThan != nil else { return true }
    guard let size = response.bodySize else { return false }
    return (largerThan.map { size > $0 } ?? true) && (smallerThan.map { size < $0 } ?? true)
  }
}
