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

/// A sample response with its request, independent of the store format.
struct SampleResponse {
  /// The request and response, without header fields.
  struct Exchange {
    var method = "GET"
    var requestBody: [UInt8]?
    var status: Int64 = 200
    var kind: MediaKind
    var location: String?
    var body: [UInt8]
  }

  /// The number of the response, from zero.
  let number: Int
  /// The host, and the URL on it.
  let host: String
  let url: SampleURL
  /// The kind of the URL, unless the response is an error.
  let kind: MediaKind
  /// The times at which the response was first and last stored, and whether it was stored more than once.
  let firstStored: Timestamp
  let stored: Timestamp
  let wasUpdated: Bool
  /// The response and the request.
  let exchange: Exchange
  let headers: ResponseHeaders
  let sent: RequestHeaders.Sent
}

/// A media type of sample bodies.
struct MediaKind {
  /// The start and end of a body; text or noise is in between.
  enum Content {
    case text(opening: String, closing: String)
    case noise(magic: [UInt8])
  }

  /// The value of `Content-Type`.
  let contentType: String
  /// The media type without parameters.
  let mimeType: String
  /// The prefix and suffix of the path of URLs of this kind.
  let pathPrefix: String
  let pathSuffix: String
  /// The median size of bodies, in bytes, and its standard deviation as a power of two.
  let medianSize: Double
  let doublings: Double
  /// The contents of bodies.
  let content: Content
  /// The relative frequency of the kind.
  let weight: Int

  /// Whether servers compress bodies of this kind.
  var isCompressible: Bool {
    if case .text = content { true } else { false }
  }

  // Apart from the others, as errors have a body of JSON whatever was asked for.
  static let json = Self(
    contentType: "application/json; charset=utf-8", mimeType: "application/json",
    pathPrefix: "/api/v2/items/", pathSuffix: "", medianSize: 1_400, doublings: 1.6,
    content: .text(opening: #"{"status":"ok","text":""#, closing: #""}"#), weight: 30)

  static let all = [
    json,
    Self(
      contentType: "text/html; charset=utf-8", mimeType: "text/html", pathPrefix: "/articles/",
      pathSuffix: ".html", medianSize: 9_000, doublings: 1.2,
      content: .text(opening: "<!doctype html><title>Sample</title><p>", closing: "</p>\n"),
      weight: 10),
    Self(
      contentType: "text/css", mimeType: "text/css", pathPrefix: "/assets/css/", pathSuffix: ".css",
      medianSize: 6_000, doublings: 1.4, content: .text(opening: "/* ", closing: " */\n"),
      weight: 5),
    Self(
      contentType: "application/javascript", mimeType: "application/javascript",
      pathPrefix: "/assets/js/", pathSuffix: ".js", medianSize: 18_000, doublings: 1.7,
      content: .text(opening: "// ", closing: "\n"), weight: 10),
    Self(
      contentType: "text/xml", mimeType: "text/xml", pathPrefix: "/configuration/",
      pathSuffix: ".plist", medianSize: 2_500, doublings: 1.3,
      content: .text(opening: "<?xml version=\"1.0\"?><text>", closing: "</text>\n"), weight: 6),
    Self(
      contentType: "image/png", mimeType: "image/png", pathPrefix: "/images/", pathSuffix: ".png",
      medianSize: 7_000, doublings: 1.7,
      content: .noise(magic: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D]),
      weight: 14),
    Self(
      contentType: "image/jpeg", mimeType: "image/jpeg", pathPrefix: "/photos/",
      pathSuffix: ".jpg", medianSize: 26_000, doublings: 1.3,
      content: .noise(magic: [0xFF, 0xD8, 0xFF, 0xE0, 0, 0x10, 0x4A, 0x46, 0x49, 0x46, 0]),
      weight: 14),
    Self(
      contentType: "image/webp", mimeType: "image/webp", pathPrefix: "/thumbnails/",
      pathSuffix: ".webp", medianSize: 5_000, doublings: 1.2,
      content: .noise(magic: Array("RIFF\0\0\0\0WEBPVP8 ".utf8)), weight: 6),
    Self(
      contentType: "font/woff2", mimeType: "font/woff2", pathPrefix: "/fonts/",
      pathSuffix: ".woff2", medianSize: 24_000, doublings: 0.7,
      content: .noise(magic: Array("wOF2\0\u{1}\0\0".utf8)), weight: 2),
    Self(
      contentType: "application/octet-stream", mimeType: "application/octet-stream",
      pathPrefix: "/download?file=", pathSuffix: "", medianSize: 60_000, doublings: 1.6,
      content: .noise(magic: []), weight: 2),
    Self(
      contentType: "text/plain", mimeType: "text/plain", pathPrefix: "/notes/", pathSuffix: ".txt",
      medianSize: 900, doublings: 1.5, content: .text(opening: "", closing: "\n"), weight: 1),
  ]

  /// Every kind, repeated by its weight.
  static let weighted = all.flatMap { Array(repeating: $0, count: $0.weight) }
}
