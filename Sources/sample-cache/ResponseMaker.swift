import PropertyLists
import ResponseStorage

/// Makes up the rows of a sample store, one after the other.
struct ResponseMaker {
  /// How far back the first response lies: nine months, in seconds.
  private static let span = 274 * 86_400.0
  /// One in so many responses has each of the faults that were asked for.
  private static let faultInterval = 40

  private let count: Int
  private let newest: Timestamp
  private let schema: AppleSchema
  private let faults: Set<Fault>
  private let sites = Sites()
  private let requests: RequestHeaders
  private let bodies: BodyMaker
  private let writer = PropertyListWriter()
  private var number = 0

  /// Creates a maker of `count` rows.
  ///
  /// - Parameter newest: When the last row was stored; no other was stored later.
  init(
    count: Int, newest: Timestamp, schema: AppleSchema, faults: Set<Fault>, allowsLarge: Bool,
    using generator: inout SplitMix64
  ) {
    self.count = count
    self.newest = newest
    self.schema = schema
    self.faults = faults
    requests = RequestHeaders(withArrays: Self.writesArrays(schema), using: &generator)
    bodies = BodyMaker(allowsLarge: allowsLarge, using: &generator)
  }

  /// Returns the next row, or `nil` after the last.
  mutating func next(using generator: inout SplitMix64) -> AppleStoreWriter.Row? {
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
      using: &generator)
    let sent = requests.pick(using: &generator)
    let response = AppleMessage.Response(
      url: ByteString(url.url), stored: stored, status: exchange.status,
      headers: HeaderFields(headers.fields),
      expectedLength: headers.isCompressed || generator.chance(inThousand: 500)
        ? Int64(exchange.body.count) : nil,
      mimeType: ByteString(exchange.kind.mimeType),
      endsAfterHeaders: exchange.location != nil && generator.chance(inThousand: 500))
    let request = AppleMessage.Request(
      url: ByteString(url.url), method: ByteString(exchange.method), headers: sent.fields,
      timeoutSeconds: generator.chance(inThousand: 250) ? 30 : 60,
      mainDocumentURL: generator.chance(inThousand: 60) ? ByteString("https://\(host)/") : nil,
      bodyParts: exchange.requestBody.map { [$0] })
    return .init(
      key: ByteString(url.key), firstStored: firstStored, wasUpdated: wasUpdated,
      partition: url.partition.map { ByteString($0) },
      response: archived(response, using: &generator),
      request: writer.bytes(of: request.propertyList(archivedHeaders: sent.archived)),
      protocolProperties: properties(
        headers.vary, sent, exchange, partition: url.partition, using: &generator),
      body: hasFault(.missingBodies, at: 7)
        ? .file(ByteString(AppleStoreWriter.uuid(using: &generator))) : .bytes(exchange.body))
  }

  /// Returns when the next row was first and last stored. Rows follow each other in time, and the
  /// later ones faster.
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
      if restored > first + 10 { (last, wasUpdated) = (restored, true) }
    }
    last = min(last, newest.secondsSince1970)
    return (
      Timestamp(secondsSince1970: first) ?? newest, Timestamp(secondsSince1970: last) ?? newest,
      wasUpdated
    )
  }

  /// What went over the wire, but for the header fields.
  private struct Exchange {
    var method = "GET"
    var requestBody: [UInt8]?
    var status: Int64 = 200
    var kind: MediaKind
    var location: String?
    var body: [UInt8]
  }

  private func exchange(
    of url: SampleURL, _ kind: MediaKind, using generator: inout SplitMix64
  ) -> Exchange {
    var exchange = Exchange(kind: kind, body: bodies.body(of: kind, using: &generator))
    switch generator.below(1_000) {
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

  private func properties(
    _ vary: ByteString?, _ sent: RequestHeaders.Sent, _ exchange: Exchange, partition: String?,
    using generator: inout SplitMix64
  ) -> [UInt8]? {
    var entries: [PropertyListValue.Entry] = []
    if let vary { entries.append(AppleMessage.varyRecord(vary, of: sent.fields)) }
    if exchange.method == "POST" {
      entries.append(
        .init(key: Array("kCFURLRequestAllowAllPOSTCaching".utf8), value: .boolean(true)))
    }
    if let partition {
      entries.append(
        .init(key: Array("_kCFURLCachePartitionKey".utf8), value: .string(Array(partition.utf8))))
    }
    // Some rows of schema 203 have a dictionary of nothing.
    let keepsEmpty = schema == .version203 && generator.chance(inThousand: 60)
    return entries.isEmpty && !keepsEmpty ? nil : writer.bytes(of: .dictionary(entries))
  }

  private func archived(
    _ response: AppleMessage.Response, using generator: inout SplitMix64
  ) -> [UInt8] {
    let headers = AppleMessage.archivedHeaders(
      response.headers, withArrays: Self.writesArrays(schema))
    let bytes = writer.bytes(of: response.propertyList(archivedHeaders: headers))
    guard hasFault(.undecodable, at: 3) else { return bytes }
    switch number / Self.faultInterval % 3 {
    case 0: return Array(bytes.prefix(bytes.count / 2))
    case 1: return Array("not a property list".utf8)
    default: return Array(bytes.dropLast(8)) + [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
    }
  }

  /// Whether header fields are archived with the key `__hhaa__`: a store of schema 202 is one of the
  /// older ones, which have none.
  private static func writesArrays(_ schema: AppleSchema) -> Bool { schema != .version202 }

  /// Whether the next row has a fault, if it was asked for: the row at `offset` and every fortieth
  /// after it; in a store that has no such row, the last one.
  private func hasFault(_ fault: Fault, at offset: Int) -> Bool {
    faults.contains(fault) && number % Self.faultInterval == min(offset, count - 1)
  }
}
