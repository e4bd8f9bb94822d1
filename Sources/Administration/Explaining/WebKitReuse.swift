public import Bytes
public import HTTPCaching
public import ResponseStorage

/// What WebKit's network cache does with a stored response; it differs from RFC 9111.
///
/// From its source (`NetworkCache.cpp` and `CacheValidation.cpp`), and observed with WebKitGTK 2.50.
public struct WebKitReuse: Hashable, Sendable {
  /// A rule that decides.
  public enum Rule: String, Hashable, Sendable, CaseIterable {
    // The response is used.

    /// Its age is not above its lifetime.
    case fresh = "webkit-fresh"
    /// The policy takes a response of any age, as *Back* and *Forward* do.
    case anyAge = "webkit-any-age"
    /// Its age is within the `max-stale` of the request.
    case maxStale = "webkit-max-stale"
    /// Its age is within `stale-while-revalidate`: it is used now, and validated behind that.
    case whileRevalidating = "webkit-while-revalidating"

    // The response is validated first.

    /// The request has conditions of its own.
    case ownConditions = "webkit-own-conditions"
    /// The request has `no-cache`.
    case requestNoCache = "webkit-request-no-cache"
    /// The request has `max-age=0`, which a policy can add.
    case requestMaxAge = "webkit-request-max-age"
    /// The response has `no-cache` without fields, or `Pragma: no-cache`.
    case responseNoCache = "webkit-response-no-cache"
    /// Its age is above its lifetime.
    case stale = "webkit-stale"

    // The response is loaded again.

    /// The request is no GET.
    case method = "webkit-method"
    /// The policy does not look into the cache.
    case reload = "webkit-reload"
    /// `Vary: *`.
    case varyNever = "webkit-vary-never"
    /// A field that `Vary` names differs.
    case varyDiffers = "webkit-vary-differs"
    /// It would be validated, but has neither `ETag` nor `Last-Modified`.
    case noValidator = "webkit-no-validator"
    /// It would be validated, but is a redirect.
    case redirect = "webkit-redirect"
    /// It is a redirect, and older than tracking prevention allows.
    case ageCap = "webkit-age-cap"
    /// The time it was stored is in the future.
    case futureDated = "webkit-future-dated"
    /// The file of its body is missing.
    case noBody = "webkit-no-body"
  }

  /// The source of a lifetime.
  public enum LifetimeSource: String, Hashable, Sendable, CaseIterable {
    /// The first `max-age` that is a number.
    case maxAge = "max-age"
    /// `Expires` minus `Date`.
    case expires
    /// A year for 301 and 410.
    case permanent
    /// A tenth of the time from `Last-Modified` to `Date`, for any status and without an upper limit.
    case heuristic
    /// None of these.
    case none
  }

  /// The rules that decide, the most important first; never empty.
  public let rules: [Rule]

  /// The lifetime in seconds, which can be negative or fractional.
  public let lifetime: Double

  /// The source of the lifetime.
  public let source: LifetimeSource

  /// The age in seconds.
  public let age: Double

  /// Decides about a request.
  ///
  /// - Parameters:
  ///   - exchange: The exchange of `response`.
  ///   - response: Decoded for ``Explanation/projection``.
  public init(
    of exchange: borrowing Exchange, _ response: borrowing StoredResponse, for request: Request,
    under policy: RequestCachePolicy, at now: Timestamp
  ) {
    (lifetime, source) = Self.lifetime(exchange)
    let stored = response.stored?.secondsSince1970 ?? Double(exchange.responseTime)
    // A delay of the network is not added, and a `Date` in the future counts as the time of storing.
    let initialAge = max(
      exchange.date.secondsSince1970.map { stored - Double($0) } ?? 0,
      Double(exchange.freshnessFields.age.ageValue), 0)
    age = initialAge + now.secondsSince1970 - stored
    if stored > now.secondsSince1970 {
      // WebKit also removes the files of both.
      rules = [.futureDated]
    } else if response.bodyLocation == .missing {
      rules = [.noBody]
    } else {
      rules = Self.rules(exchange, response, request, policy, lifetime: lifetime, age: age)
    }
  }

  /// What happens.
  public var outcome: RequestCachePolicy.Outcome {
    switch rules[0] {
    case .fresh, .anyAge, .maxStale, .whileRevalidating: .cache
    case .ownConditions, .requestNoCache, .requestMaxAge, .responseNoCache, .stale: .conditional
    case .method, .reload, .varyNever, .varyDiffers, .noValidator, .redirect, .ageCap,
      .futureDated, .noBody:
      .load
    }
  }
}

extension WebKitReuse {
  /// The rules in the order in which WebKit asks.
  private static func rules(
    _ exchange: borrowing Exchange, _ response: borrowing StoredResponse, _ request: Request,
    _ policy: RequestCachePolicy, lifetime: Double, age: Double
  ) -> [Rule] {
    guard request.isGet else { return [.method] }
    let hasConditions = request.fields.lines.contains(where: \.isCondition)
    let isReload = [.reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData]
      .contains(policy)
    if isReload, !hasConditions { return [.reload] }
    let isRedirect = response.webKitMarks?.isRedirect ?? false
    if hasConditions, !isRedirect { return [.ownConditions] }
    if let rule = varying(exchange, request) { return [rule] }
    let cap = isRedirect ? response.webKitMarks?.ageCap : nil
    if let cap, age > cap { return [.ageCap] }
    if [.returnCacheDataElseLoad, .returnCacheDataDontLoad].contains(policy) { return [.anyAge] }
    let rule = rule(exchange, request, policy, lifetime: lifetime, age: age)
    switch rule {
    case .fresh, .maxStale, .whileRevalidating: return [rule]
    default: break
    }
    if !exchange.hasValidatorFields { return [.noValidator, rule] }
    return isRedirect ? [.redirect, rule] : [rule]
  }

  private static func rule(
    _ exchange: borrowing Exchange, _ request: Request, _ policy: RequestCachePolicy,
    lifetime: Double, age: Double
  ) -> Rule {
    let asked = WebKitDirectives(request.fields)
    if asked.noCache { return .requestNoCache }
    // Other values are ignored until version 2.50.
    if asked.maxAge == 0 || policy == .reloadRevalidatingCacheData { return .requestMaxAge }
    let directives = WebKitDirectives(exchange.fields)
    if directives.noCache { return .responseNoCache }
    let excess = age - lifetime
    // An equal age counts as fresh.
    guard excess > 0 else { return .fresh }
    if let slack = asked.maxStale { return excess > slack ? .stale : .maxStale }
    if let window = directives.staleWhileRevalidate, excess < window { return .whileRevalidating }
    return .stale
  }

  private static func varying(_ exchange: borrowing Exchange, _ request: Request) -> Rule? {
    guard case .fields(let names) = exchange.vary else {
      return exchange.vary == .anything ? .varyNever : nil
    }
    let stored = exchange.varyRecord ?? FieldSection()
    let (allKept, allSent) = (stored.sections(with: names), request.fields.sections(with: names))
    let differs = names.indices.contains { place in
      let name = names[place]
      let (kept, sent) = (allKept[place].values(of: name), allSent[place].values(of: name))
      // The networking library adds them after WebKit has looked into its cache.
      if kept.isEmpty, addedLater.contains(name) { return false }
      return kept != sent
    }
    return differs ? .varyDiffers : nil
  }

  /// The fields of a request that WebKit does not see: both on Linux, only `Accept-Encoding` on Apple systems.
  private static let addedLater: [FieldName] = ["Accept-Encoding", "Accept-Language"]

  fileprivate static func lifetime(_ exchange: borrowing Exchange) -> (Double, LifetimeSource) {
    if let seconds = WebKitDirectives(exchange.fields).maxAge { return (seconds, .maxAge) }
    let fields = exchange.freshnessFields
    // An invalid `Expires` is ignored, and does not end the search.
    if let end = fields.expires.secondsSince1970 {
      return (Double(end) - Double(fields.dateValue), .expires)
    }
    if exchange.status == 301 || exchange.status == 410 { return (365 * 86_400, .permanent) }
    if let modified = fields.lastModified.secondsSince1970 {
      return ((Double(fields.dateValue) - Double(modified)) / 10, .heuristic)
    }
    return (0, .none)
  }
}

/// The directives that WebKit reads in `Cache-Control` and `Pragma`, of requests and responses alike.
private struct WebKitDirectives {
  private(set) var noCache = false
  private(set) var noStore = false
  /// In seconds, as are the others. The first that is a number counts.
  private(set) var maxAge: Double?
  /// Infinite without a value.
  private(set) var maxStale: Double?
  private(set) var staleWhileRevalidate: Double?

  init(_ fields: FieldSection) {
    for directive in CacheControl(fields).directives {
      let text = directive.argument?.text ?? []
      switch directive.name {
      // With the names of fields, it is ignored.
      case .noCache: if text.isEmpty { noCache = true }
      case .noStore: noStore = true
      case .maxAge: maxAge = maxAge ?? Self.number(text)
      case .maxStale: maxStale = maxStale ?? (text.isEmpty ? .infinity : Self.number(text))
      case .staleWhileRevalidate:
        staleWhileRevalidate = staleWhileRevalidate ?? Self.number(text)
      default: break
      }
    }
    if !noCache {
      noCache = fields.values(of: .pragma).contains { value in
        value.map(\.asciiLowercased).firstRange(of: "no-cache".utf8) != nil
      }
    }
  }

  /// A decimal number, which can be negative or have a fraction.
  private static func number(_ text: [UInt8]) -> Double? {
    let letters = "0123456789.+-eE".utf8
    guard text.allSatisfy({ letters.contains($0) }) else { return nil }
    return Double(String(decoding: text, as: UTF8.self)).flatMap { $0.isFinite ? $0 : nil }
  }
}

extension Exchange {
  /// Whether the response has something to ask with, even if it is no date.
  fileprivate var hasValidatorFields: Bool {
    ["ETag", "Last-Modified"].contains { !(fields.firstValue(of: $0) ?? []).isEmpty }
  }
}

extension FieldLine {
  /// Whether it makes a request conditional in WebKit.
  fileprivate var isCondition: Bool {
    let names: [FieldName] = [
      "If-Match", .ifModifiedSince, .ifNoneMatch, .ifRange, "If-Unmodified-Since",
    ]
    return names.contains(FieldName(of: self))
  }
}

/// How a page asks for a response.
public enum WebKitNavigation: String, Hashable, Sendable, CaseIterable {
  /// A page, by a link or an address.
  case new
  /// What a page needs: a style sheet, a script, an image or data.
  case subresource
  /// A page that is loaded again.
  case reload
  /// *Back* or *Forward*, with what the page needs.
  case back

  /// The policy of its request.
  public var policy: RequestCachePolicy {
    switch self {
    case .new, .subresource: .useProtocolCachePolicy
    case .reload: .reloadIgnoringLocalCacheData
    case .back: .returnCacheDataElseLoad
    }
  }
}

/// Why WebKit does not store a response, in the order of its checks.
public enum WebKitRefusal: String, Hashable, Sendable, CaseIterable {
  /// The request is no GET.
  case method = "webkit-method"
  /// The request has `no-store`.
  case requestNoStore = "webkit-request-no-store"
  /// The response has `no-store`.
  case responseNoStore = "webkit-response-no-store"
  /// Responses of its status are not stored.
  case status = "webkit-status"
  /// Responses of its status are stored only with `max-age` or a valid `Expires`.
  case statusWithoutLifetime = "webkit-status-without-lifetime"
  /// It is no page, and has neither a lifetime nor anything to ask with.
  case unlikelyReused = "webkit-unlikely-reused"
  /// Its body is larger than an eighth of the capacity.
  case largeBody = "webkit-large-body"

  /// Returns the first rule against storing a response; `nil` if there is none.
  ///
  /// - Parameter isPage: Whether it is a page, which is always stored for *Back*.
  static func first(
    of exchange: borrowing Exchange, isPage: Bool, capacity: ByteCount?
  ) -> WebKitRefusal? {
    let request = exchange.request ?? Request()
    guard request.isGet else { return .method }
    if WebKitDirectives(request.fields).noStore { return .requestNoStore }
    let directives = WebKitDirectives(exchange.fields)
    if directives.noStore { return .responseNoStore }
    switch exchange.status ?? 0 {
    case 200, 203, 204, 206, 300, 301, 404, 405, 410, 414, 501: break
    case 201, 202, 205, 302, 303, 307, 403, 406, 415:
      if directives.maxAge == nil, exchange.freshnessFields.expires.secondsSince1970 == nil {
        return .statusWithoutLifetime
      }
    default: return .status
    }
    let lifetime = directives.noCache ? 0 : WebKitReuse.lifetime(exchange).0
    let window = directives.noCache ? 0 : directives.staleWhileRevalidate ?? 0
    if !isPage, !exchange.hasValidatorFields, lifetime <= 0, window <= 0 { return .unlikelyReused }
    if let limit = capacity.map({ $0 / 8 }), let length = exchange.announcedLength,
      ByteCount(length) > limit
    {
      return .largeBody
    }
    return nil
  }
}

/// WebKit.
struct WebKitPlatform: PlatformRules {
  var name: String? { "WebKit" }
  var storesAsSpecified: Bool { false }

  func largestBody(of capacity: ByteCount) -> ByteCount? { nil }

  func lines(addedBy policy: RequestCachePolicy) -> [FieldLine] {
    func line(_ name: String, _ value: String) -> FieldLine {
      FieldLine(name: Array(name.utf8), value: Array(value.utf8))
    }
    return switch policy {
    case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData:
      [line("Pragma", "no-cache"), line("Cache-Control", "no-cache")]
    case .reloadRevalidatingCacheData: [line("Cache-Control", "max-age=0")]
    default: []
    }
  }

  func decision(
    on exchange: borrowing Exchange, _ response: borrowing StoredResponse, for request: Request,
    under policy: RequestCachePolicy, at now: Timestamp
  ) -> PlatformDecision? {
    let reuse = WebKitReuse(of: exchange, response, for: request, under: policy, at: now)
    let isError = reuse.outcome == .load && policy == .returnCacheDataDontLoad
    return PlatformDecision(
      outcome: isError ? .error : reuse.outcome, reasons: reuse.rules.map { .webKit($0) },
      removes: [.futureDated, .noBody].contains(reuse.rules[0]),
      isRevalidatedMeanwhile: reuse.rules[0] == .whileRevalidating,
      freshness: PlatformDecision.Freshness(
        lifetime: reuse.lifetime, source: reuse.source, age: reuse.age))
  }

  func hints(
    about details: Explanation.Details, _ response: borrowing StoredResponse, isFound: Bool
  ) -> [Hint] {
    var hints: [Hint] = []
    let marks = response.webKitMarks ?? WebKitMarks()
    if let cap = marks.ageCap { hints.append(.ageCap(seconds: cap)) }
    if marks.isRelayed { hints.append(.privatelyRelayed) }
    hints.append(marks.isRedirect ? .redirectNeverValidated : .usedByBack)
    if case .fields(let names) = details.exchange.vary {
      hints.append(.oneVariant)
      if names.contains(where: { ["Accept-Encoding", "Accept-Language"].contains($0) }) {
        hints.append(.varyUnseen)
      }
    }
    hints.append(.memoryCacheFirst)
    return hints
  }

  func reasons(
    againstStoring exchange: Exchange?, asking inquiry: Inquiry
  ) -> [MissingResponse.Reason] {
    let isPage = inquiry.navigation.map { $0 != .subresource } ?? false
    let refusal = exchange.flatMap {
      WebKitRefusal.first(of: $0, isPage: isPage, capacity: inquiry.capacityBytes)
    }
    return refusal.map { [.webKitRefuses($0)] } ?? []
  }
}
