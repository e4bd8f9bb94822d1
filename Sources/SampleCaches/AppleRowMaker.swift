import Bytes
import PropertyLists
import ResponseStorage

/// Converts sample responses to rows of an Apple store.
struct AppleRowMaker {
  private let schema: AppleSchema
  private let faults: FaultPlan
  private let writer = PropertyListWriter()

  /// Creates a row maker.
  init(schema: AppleSchema, faults: FaultPlan) {
    self.schema = schema
    self.faults = faults
  }

  // Both kinds must be read: the key appeared with some version of macOS 10.13, within the lifetime
  // of schema 202.
  /// Whether header fields are archived with the key `__hhaa__`. Stores of schema 202 are older and do not have it.
  static func writesArrays(_ schema: AppleSchema) -> Bool { schema != .version202 }

  /// Returns the row of a response.
  func row(
    of sample: SampleResponse, using generator: inout SplitMix64
  ) -> AppleStoreWriter.Row {
    let (url, exchange, headers) = (sample.url, sample.exchange, sample.headers)
    let response = AppleMessage.Response(
      url: ByteString(url.url), stored: sample.stored, status: exchange.status,
      headers: HeaderFields(headers.fields),
      // Of a compressed response, real rows always record the decoded size. Of others, newer
      // systems leave the item empty if `Content-Length` says the same.
      expectedLength: headers.isCompressed || generator.chance(inThousand: 500)
        ? ByteCount(exchange.body.count) : nil,
      mimeType: ByteString(exchange.kind.mimeType),
      // The array of one redirect in the surveyed caches ended after the header fields.
      endsAfterHeaders: exchange.location != nil && generator.chance(inThousand: 500))
    let request = AppleMessage.Request(
      url: ByteString(url.url), method: ByteString(exchange.method), headers: sample.sent.fields,
      // 60 seconds is the default of `URLRequest`. Any other value sets a flag in the archived
      // request too.
      timeoutSeconds: generator.chance(inThousand: 250) ? 30 : 60,
      mainDocumentURL: generator.chance(inThousand: 60)
        ? ByteString("https://\(sample.host)/") : nil,
      bodyParts: exchange.requestBody.map { [$0] })
    let archivedHeaders = AppleMessage.archivedHeaders(
      response.headers, withArrays: Self.writesArrays(schema))
    let archived = writer.bytes(of: response.propertyList(archivedHeaders: archivedHeaders))
    return .init(
      key: ByteString(url.key), firstStored: sample.firstStored, wasUpdated: sample.wasUpdated,
      partition: url.partition.map { ByteString($0) },
      response: faults.damaged(archived, of: sample),
      request: writer.bytes(of: request.propertyList(archivedHeaders: sample.sent.archived)),
      protocolProperties: properties(of: sample, using: &generator),
      body: faults.includes(.missingBodies, in: sample)
        ? .file(ByteString(AppleStoreWriter.uuid(generator.next(), generator.next())))
        : .bytes(exchange.body))
  }

  private func properties(
    of sample: SampleResponse, using generator: inout SplitMix64
  ) -> [UInt8]? {
    var entries: [PropertyListValue.Entry] = []
    // From schema 106 on, all 1,162 surveyed responses with `Vary` had such a record.
    if let vary = sample.headers.vary {
      entries.append(AppleMessage.varyRecord(vary, of: sample.sent.fields))
    }
    if sample.exchange.method == "POST" {
      entries.append(
        .init(key: Array("kCFURLRequestAllowAllPOSTCaching".utf8), value: .boolean(true)))
    }
    if let partition = sample.url.partition {
      entries.append(
        .init(key: Array("_kCFURLCachePartitionKey".utf8), value: .string(Array(partition.utf8))))
    }
    // Some real rows of schema 203 have an empty dictionary.
    let keepsEmpty = schema == .version203 && generator.chance(inThousand: 60)
    return entries.isEmpty && !keepsEmpty ? nil : writer.bytes(of: .dictionary(entries))
  }
}
