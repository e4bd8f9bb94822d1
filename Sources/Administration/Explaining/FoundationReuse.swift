import Bytes
public import HTTPCaching
import ResponseStorage

/// What `URLSession` of Foundation on Linux does with a stored response; it differs from RFC 9111.
///
/// Observed with Swift 6.3, and consistent with `HTTPURLProtocol.swift` of swift-corelibs-foundation: it either uses a
/// response or loads it again, regardless of the request policy. It never validates, has no heuristic, ignores `Age`,
/// and cannot parse dates. It uses responses without `max-age` and `Expires` forever, and removes responses that it
/// does not use.
public struct FoundationReuse: Hashable, Sendable {
  /// Why a stored response is not used, in the order of Foundation's checks.
  public enum Refusal: String, Hashable, Sendable, CaseIterable {
    /// The response is not found: its key belongs to another URL.
    case otherKey = "foundation-other-key"
    /// The response has `WWW-Authenticate` or `Proxy-Authenticate`.
    case challenge = "foundation-challenge"
    /// The request has `Authorization` or `Proxy-Authorization`.
    case authorization = "foundation-authorization"
    /// The request is neither GET nor HEAD.
    case method = "foundation-method"
    /// The request is HEAD, and there is a body.
    case bodyForHead = "foundation-body-for-head"
    /// The response has `no-cache`.
    case noCache = "foundation-no-cache"
    /// The response has `no-store`.
    case noStore = "foundation-no-store"
    /// It was stored at least `max-age` seconds ago.
    case maxAge = "foundation-max-age"
    /// Responses of this status are not used.
    case status = "foundation-status"
    /// The response has a `Vary`, with any value.
    case vary = "foundation-vary"
    /// The response has an `Expires` and no `max-age`: Foundation cannot parse the date and treats it as past.
    case expires = "foundation-expires"
  }

  /// Why the stored response is not used; `nil` if it is.
  public let refusal: Refusal?

  /// The time until which the response is used, in seconds since 1970; `nil` if it is used forever or not at all.
  public let usedUntil: Int64?

  /// Decides about a presented request.
  ///
  /// - Parameter now: Seconds since 1970-01-01 00:00:00 UTC.
  public init(of exchange: borrowing Exchange, for request: Request, at now: Int64) {
    let control = FoundationCacheControl(exchange.fields)
    let end = control.maxAge.map { exchange.responseTime.saturatingAdding($0) }
    refusal = Self.refusal(exchange, request, control, isPast: end.map { now >= $0 } ?? false)
    usedUntil = refusal == nil ? end : nil
  }

  private static func refusal(
    _ exchange: borrowing Exchange, _ request: Request, _ control: FoundationCacheControl,
    isPast: Bool
  ) -> Refusal? {
    let fields = exchange.fields
    if fields.contains(.authenticate) || fields.contains(.proxyAuthenticate) {
      return .challenge
    }
    if request.fields.contains(.authorization) || request.fields.contains(.proxyAuthorization) {
      return .authorization
    }
    if request.isHead {
      if exchange.bodyBytes ?? 0 > 0 { return .bodyForHead }
    } else if !request.isGet {
      return .method
    }
    if control.noCache { return .noCache }
    if control.noStore { return .noStore }
    if isPast { return .maxAge }
    // The statuses that RFC 7231 §6.1 makes cacheable by default.
    switch exchange.status {
    case 200, 203, 204, 206, 300, 301, 404, 405, 410, 414, 501: break
    default: return .status
    }
    // A Foundation store keeps no request whose fields could be compared.
    if fields.contains(.vary) { return .vary }
    // Foundation's date formatter uses the system locale, in which months are called `M11` on
    // Linux, so it can read no date of HTTP.
    if !control.hasLifetime, fields.contains(.expires) { return .expires }
    return nil
  }
}

/// The parts of `Cache-Control` that Foundation on Linux reads. It splits at every comma, even inside quotes, and the
/// last of repeated directives wins.
private struct FoundationCacheControl {
  private(set) var noCache = false
  private(set) var noStore = false
  /// The seconds of `max-age`; `nil` if it is not a number.
  private(set) var maxAge: Int64?
  /// Whether there is a `max-age` or an `s-maxage`; either overrides `Expires`.
  private(set) var hasLifetime = false

  init(_ fields: FieldSection) {
    for line in fields.values(of: .cacheControl) {
      for part in line.split(separator: UInt8(ascii: ",")) { read(part) }
    }
  }

  private mutating func read(_ part: ArraySlice<UInt8>) {
    let part = part.trimmingBlanks.map(\.asciiLowercased)
    if part.elementsEqual("no-cache".utf8) {
      noCache = true
    } else if part.elementsEqual("no-store".utf8) {
      noStore = true
    } else if let seconds = Self.seconds(part, after: "max-age=") {
      (maxAge, hasLifetime) = (seconds, true)
    } else if Self.seconds(part, after: "s-maxage=") != nil {
      hasLifetime = true
    }
  }

  /// The number after a name, with or without quotation marks and a plus sign.
  private static func seconds(_ part: [UInt8], after name: StaticString) -> Int64? {
    let name = Array(name.description.utf8)
    guard part.starts(with: name) else { return nil }
    var argument = part.dropFirst(name.count)
    let quote = UInt8(ascii: "\"")
    if argument.count >= 2, argument.first == quote, argument.last == quote {
      argument = argument.dropFirst().dropLast()
    }
    return UInt64(String(decoding: argument, as: UTF8.self)).map { Int64(clamping: $0) }
  }
}

/// Foundation on Linux.
struct FoundationPlatform: PlatformRules {
  var name: String? { "Foundation on Linux" }
  var validates: Bool { false }
  var followsPolicies: Bool { false }
  var hasHeuristic: Bool { false }
  var answersAuthorized: Bool { false }

  func largestBody(of capacity: ByteCount) -> ByteCount? { nil }

  // A platform that ignores policies does not add `Cache-Control: no-cache` either.
  func lines(addedBy policy: RequestCachePolicy) -> [FieldLine] { [] }

  func decision(
    on exchange: borrowing Exchange, _ response: borrowing StoredResponse, for request: Request,
    under policy: RequestCachePolicy, at now: Timestamp
  ) -> PlatformDecision? {
    let reuse = FoundationReuse(of: exchange, for: request, at: now.wholeSeconds)
    if let refusal = reuse.refusal {
      return PlatformDecision(
        outcome: .load, reasons: [.foundationRefuses(refusal)], removes: true)
    }
    return PlatformDecision(
      outcome: .cache, reasons: [.foundationUses(until: reuse.usedUntil)], removes: false)
  }

  func hints(
    about details: Explanation.Details, _ response: borrowing StoredResponse, isFound: Bool
  ) -> [Hint] {
    var hints: [Hint] = []
    if response.url?.bytes.contains(UInt8(ascii: "?")) ?? false { hints.append(.keyWithoutQuery) }
    if isFound {
      switch details.decision?.reasons[0] {
      // Observed with Swift 6.3: `URLSession` removes an entry that it does not use, even if only a
      // HEAD or a request with `Authorization` asked for the URL.
      case .foundationRefuses: hints.append(.removedWhenRefused)
      case .foundationUses(until: nil): hints.append(.usedForEver)
      default: break
      }
    }
    if !details.validators.isEmpty { hints.append(.neverValidated) }
    hints.append(.policyIgnored)
    return hints
  }

  func reasons(
    againstStoring exchange: Exchange?, asking inquiry: Inquiry
  ) -> [MissingResponse.Reason] {
    let refusal = exchange.flatMap {
      FoundationReuse(of: $0, for: $0.request ?? Request(), at: inquiry.now.wholeSeconds).refusal
    }
    // Observed with Swift 6.3: only `storeCachedResponse` adds entries on Linux.
    return (refusal.map { [.foundationRefuses($0)] } ?? []) + [.foundationStoresNothing]
  }
}
