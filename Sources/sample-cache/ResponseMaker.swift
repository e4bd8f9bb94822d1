import Bytes
import ResponseStorage

/// Creates the responses of a sample store, one after the other.
struct ResponseMaker {
  /// The age of the oldest response, in seconds: nine months.
  private static let span = 274 * 86_400.0

  private let count: Int
  private let newest: Timestamp
  private let sites = Sites()
  private let requests: RequestHeaders
  private let bodies: BodyMaker
  private let sizes: SampleSize
  private var number = 0

  /// Creates a maker of `count` responses.
  ///
  /// - Parameters:
  ///   - newest: The time at which the newest response was stored.
  ///   - withArrays: Whether the header fields of requests are archived with the key `__hhaa__`.
  init(
    count: Int, newest: Timestamp, withArrays: Bool, _ sizes: SampleSize,
    using generator: inout SplitMix64
  ) {
    self.count = count
    self.newest = newest
    requests = RequestHeaders(withArrays: withArrays, using: &generator)
    bodies = BodyMaker(sizes, using: &generator)
    self.sizes = sizes
  }

  /// Returns the next response, or `nil` after the last.
  mutating func next(using generator: inout SplitMix64) -> SampleResponse? {
    guard number < count else { return nil }
    defer { number += 1 }
    let kind = generator.pick(MediaKind.weighted)
    let host = Sites.hosts[sites.pick(using: &generator)]
    let url = SampleURL(host: host, kind: kind, number: number, using: &generator)
    let (firstStored, stored, wasUpdated) = times(using: &generator)
    let exchange = exchange(of: url, kind, using: &generator)
    let headers = ResponseHeaders(
      .init(
        status: exchange.status, kind: exchange.kind, bodySize: exchange.body.count,
        stored: stored, location: exchange.location),
      few: sizes == .tiny, using: &generator)
    return SampleResponse(
      number: number, host: host, url: url, kind: kind, firstStored: firstStored, stored: stored,
      wasUpdated: wasUpdated, exchange: exchange, headers: headers,
      sent: sizes == .tiny ? requests.none : requests.pick(using: &generator))
  }

  /// Returns the times at which the next response was first and last stored. The times increase, and become denser.
  private func times(
    using generator: inout SplitMix64
  ) -> (firstStored: Timestamp, stored: Timestamp, wasUpdated: Bool) {
    let remaining = Double(count - 1 - number) / Double(max(1, count - 1))
    let first = (newest.secondsSince1970 - Self.span * remaining * remaining).rounded(.down)
    var last = first + generator.unit()
    var wasUpdated = false
    if generator.chance(inThousand: 280) {
      let later = generator.unit()
      let restored = first + (newest.secondsSince1970 - first) * later * later
      // CFNetwork keeps the time of the first storing when it updates a row, so both times are
      // needed to exercise ages.
      if restored > first + 10 { (last, wasUpdated) = (restored, true) }
    }
    last = min(last, newest.secondsSince1970)
    return (
      Timestamp(secondsSince1970: first) ?? newest, Timestamp(secondsSince1970: last) ?? newest,
      wasUpdated
    )
  }

  private func exchange(
    of url: SampleURL, _ kind: MediaKind, using generator: inout SplitMix64
  ) -> SampleResponse.Exchange {
    var exchange = SampleResponse.Exchange(
      kind: kind, body: bodies.body(of: kind, using: &generator))
    switch generator.below(1_000) {
    // CFNetwork documents that it stores 200 to 299 only, but the surveyed caches had 404 and 301
    // as well.
    case 0..<16:
      exchange.status = 404
      exchange.kind = .json
      exchange.body = Array(#"{"status":"not found"}"#.utf8)
    case 16..<24:
      exchange.status = 301
      exchange.location = "https://www.moved.example/\(generator.below(100_000))"
      exchange.body = Array("<p>Moved.</p>".utf8)
    case 24..<34:
      exchange.method = "POST"
      exchange.requestBody = Array(#"{"query":"sample","page":\#(generator.below(50))}"#.utf8)
    case 34..<36:
      exchange.method = "HEAD"
      exchange.body = []
    default: break
    }
    return exchange
  }
}
