import Bytes
import HTTPCaching
import ResponseStorage

extension EntryField {
  /// All fields, the columns in their order.
  static let all = whole + message + freshness + attached + tested

  /// The entry as a whole, and the most important of its request and response.
  private static let whole: [EntryField] = [
    EntryField(
      "id", .id, in: .lists,
      .part([]) {
        switch $0.id {
        case .row(let number): .integer(number)
        case .file(let name): .fileName(name)
        }
      }),
    EntryField(
      "stored", .time, .part(.stored) { $0.stored.map { .time($0) } }, compared: .time(.stored)),
    EntryField(
      "first-stored", .time, .part(.firstStored) { $0.firstStored.map { .time($0) } },
      compared: .time(.firstStored)),
    EntryField("age", .age, .part(.stored) { $0.stored.map { .age($0) } }, compared: .time(nil)),
    EntryField("status", .status, .part(.status) { $0.status.map { .integer($0) } }),
    // Methods are case-sensitive (RFC 9110 §9.1), but `--method` ignores their case as well.
    EntryField(
      "method", .text(ignoringCase: true), .part(.method) { $0.request.method.map { .text($0) } }),
    EntryField("size", .size, size),
    EntryField(
      "mime", .text(ignoringCase: true), .part(.mimeType) { $0.mimeType.map { .text($0) } }),
    EntryField(
      "url", .text, url,
      // An entry that cannot be decoded has no URL, and must still be selectable to be removed.
      compared: .part([.url, .key]) { ($0.url ?? $0.key).map { .text($0) } }),
    EntryField(
      "request-url", .text, in: .lists,
      .part([.url, .key, .requestDetails]) { $0.requestedURL.map { .url($0) } }),
    EntryField("response-url", .text, in: .lists, url),
    // Schemes, hosts, media types and directives are case-insensitive (RFC 3986 §3.1 and §3.2.2, RFC 9110 §8.3.1, RFC 9111
    // §5.2).
    EntryField(
      "host", .text(ignoringCase: true), .part(.url) { $0.url.map { .urlPart(.host, of: $0) } },
      compared: .part(.url) { $0.url.flatMap { .hosts(of: $0) } }),
    EntryField("path", .text, .part(.url) { $0.url.map { .urlPart(.path, of: $0) } }),
    EntryField(
      "scheme", .text(ignoringCase: true), .part(.url) { $0.url.map { .urlPart(.scheme, of: $0) } }),
    EntryField("partition", .text, .part(.storage) { $0.partition.map { .text($0) } }),
    EntryField("type", .text, .part(.storage) { $0.type.map { .text($0) } }),
    EntryField(
      "range", .text,
      .part(.requestHeaders) {
        $0.request.headers?.firstValue(named: "range").map { .text($0) }
      }),
    EntryField(
      "disk", .size, in: .lists,
      // The announced size of a missing body would be counted as space on disk that removing it could free.
      .part(.body) {
        $0.bodyLocation == .missing ? nil : $0.bodySize.map { .byteCount($0) }
      }, sorted: size),
    EntryField("body-location", .word(locations), in: .lists, location),
    // Unknown if no length was announced for the stored bytes. That includes bodies with a content coding: `URLCache` stores
    // them decoded, and `Content-Length` counts the coded bytes (RFC 9110 §8.6).
    EntryField(
      "received", .share,
      .part(Exchange.projection) {
        ReceivedBody(of: $0).map { .percent($0.wholePercent, exactly: $0.percent) }
      }),
    EntryField(
      "announced", .size, in: .lists,
      .part(Exchange.projection) {
        ReceivedBody(of: $0).map { .byteCount(ByteCount($0.announced)) }
      }),
    EntryField(
      "policy", .word(StoredResponse.StoragePolicy.names), in: .lists,
      .part(.storage) {
        switch $0.storagePolicy {
        case .unknown(let number): .integer(number)
        case let policy: policy.map { .word($0.name) }
        }
      }, sorted: .part(.storage) { $0.storagePolicy.map { .word("\($0)") } }),
  ]

  /// Header fields of the response.
  private static let message: [EntryField] = [
    EntryField("etag", .text, header("etag")),
    EntryField(
      "last-modified", .date, header("last-modified"), compared: .time(.lastModified),
      sorted: time(.lastModified)),
    EntryField(
      "cache-control", .text(ignoringCase: true), header("cache-control"),
      // Several lines of a list-based field are one list (RFC 9110 §5.3), so a directive may be in any of them.
      compared: .part(.responseHeaders) {
        $0.responseHeaders?.joinedValue(named: "cache-control").map { .text($0) }
      }),
    EntryField("date", .date, header("date"), compared: .time(.date), sorted: time(.date)),
    EntryField("expires", .text, in: .lists, header("expires")),
  ]

  private static let freshness: [EntryField] = [
    EntryField(
      "freshness", .word(ResponseFreshness.State.allCases.map(\.rawValue)),
      .freshness { .freshness($0.state) }),
    EntryField("ttl", .remaining, .freshness { .remainingLifetime($0.remainingSeconds) }),
    EntryField("lifetime", .duration, .freshness { $0.lifetimeSeconds.map { .duration($0) } }),
    EntryField(
      "lifetime-source", .text, in: .lists,
      .freshness { .word($0.freshness.lifetime.source.rawValue) }),
    EntryField("current-age", .age, .freshness { .duration($0.freshness.age.seconds) }),
    EntryField("expires-at", .expiry, .freshness { $0.expiresAt.map { .time($0) } }),
    EntryField(
      "validators", .list, in: .lists, .freshness { .texts($0.validatorWords) },
      sorted: .freshness { .integer($0.has(.strong) ? 2 : $0.has(.weak) ? 1 : 0) }),
  ]

  /// All there is of a kind, and what is attached to the entry.
  private static let attached: [EntryField] = [
    EntryField("key", .text, .part(.key) { $0.key.map { .url($0) } }),
    EntryField(
      "request-headers", .list, in: .lists,
      .part(.requestHeaders) { $0.request.headers.map { .headers($0) } }),
    EntryField(
      "response-headers", .list, in: .lists,
      .part(.responseHeaders) { $0.responseHeaders.map { .headers($0) } }),
    EntryField("notes", .list, in: .lists, .part(.notes) { .notes($0.notes) }),
    EntryField(
      "sidecar-etag", .text, in: .sidecars,
      .context(SidecarTags.projection) { $1.sidecars?.tag(of: $0).map { .text($0) } }),
    EntryField(
      "user-info", .attached, takesKey: true,
      .keyed(.userInfo) { .attached($0.userInfo, $1) }),
    EntryField(
      "proto-props", .attached, in: .lists, takesKey: true,
      .keyed(.protocolProperties) { .attached($0.protocolProperties, $1) }),
    EntryField(
      "confidence", .text, in: .recovered,
      .context([]) { $1.recovered?.fact(of: $0.id).map { .word($0.confidence.rawValue) } }),
    EntryField(
      "found", .text, in: .recovered,
      .context([]) { $1.recovered?.fact(of: $0.id).map { .word($0.place) } }),
  ]

  /// What only conditions test.
  private static let tested: [EntryField] = [
    EntryField(
      "query", .text, in: .conditions, takesKey: true,
      .keyed(.url) { response, key in
        response.url.map { URLQuery.values(of: key ?? "", in: $0) }.flatMap { .some(of: $0) }
      }),
    EntryField(
      "header", .text, in: .conditions, takesKey: true,
      .keyed(.responseHeaders) { .some(of: $0.responseHeaders?.values(named: $1 ?? "")) }),
    EntryField(
      "request-header", .text, in: .conditions, takesKey: true,
      .keyed(.requestHeaders) { .some(of: $0.request.headers?.values(named: $1 ?? "")) }),
    EntryField(
      "directive", .text(ignoringCase: true), in: .conditions,
      .part(.responseHeaders) {
        let names = UsageReport.Grouping.directives(of: $0).compactMap(\.self)
        return names.isEmpty ? nil : .texts(names)
      }),
    EntryField(
      "storage-policy", .word(StoredResponse.StoragePolicy.names), in: .conditions,
      .part(.storage) { $0.storagePolicy.map { .word($0.name) } }),
    EntryField("body", .body(locations), in: .conditions, location),
    EntryField(
      "partial", .word(["true", "false"]), in: .conditions,
      .part(BodyCompleteness.projection) {
        BodyCompleteness(of: $0).map { .word("\($0 == .partial)") }
      }),
    EntryField(
      "validator", .word(ResponseFreshness.ValidatorKind.allCases.map(\.rawValue)),
      in: .conditions,
      .freshness { freshness in
        .texts(
          ResponseFreshness.ValidatorKind.allCases.filter { freshness.has($0) }
            .map { ByteString($0.rawValue) })
      }),
    EntryField("class", .text, in: .rules, .context([]) { $1.entryClass.map { .word($0) } }),
    EntryField(
      "revalidation", .word(["due", "not-due"]), in: .rules,
      .context([]) { $1.isRevalidationDue.map { .word($0 ? "due" : "not-due") } }),
  ]

  private static let url = Read.part(.url) { $0.url.map { .url($0) } }
  private static let size = Read.part(.body) { $0.bodySize.map { .byteCount($0) } }
  private static let location = Read.part(.body) { $0.bodyLocation.map { .word($0.rawValue) } }
  private static let locations = StoredResponse.BodyLocation.allCases.map(\.rawValue)

  /// The first header field of the response with a name.
  private static func header(_ name: StaticString) -> Read {
    .part(.responseHeaders) { $0.responseHeaders?.firstValue(named: name).map { .text($0) } }
  }

  /// The time in a header field. Two-digit years are resolved relative to the stored time.
  private static func time(_ basis: AgeBasis) -> Read {
    .part(basis.projection.union(.stored)) { response in
      response.stored.flatMap { basis.time(of: response, now: $0) }.map { .time($0) }
    }
  }
}

extension EntryField.Value {
  /// The host of a URL in all its spellings: parts of it are compared with each.
  fileprivate static func hosts(of url: ByteString) -> Self? {
    guard let host = CanonicalURL.host(of: url) else { return nil }
    if CanonicalURL.hasPlainHost(url.bytes) { return .text(host) }
    let ascii = HostName.ascii(host.bytes[...]).map { ByteString($0) } ?? host
    return .texts([ascii, ByteString(HostName.unicode(host.bytes[...])), host])
  }

  /// Texts; `nil` if there are none.
  fileprivate static func some(of texts: [ByteString]?) -> Self? {
    texts.flatMap { $0.isEmpty ? nil : .texts($0) }
  }

  /// The property with a key, or all properties without one.
  fileprivate static func attached(
    _ properties: [StoredResponse.Property], _ key: ByteString?
  ) -> Self? {
    guard let key else { return .properties(properties) }
    return properties.value(for: key).map { .property(key, $0) }
  }
}

extension ReceivedBody {
  fileprivate init?(of response: borrowing StoredResponse) {
    guard let exchange = Exchange(of: response) else { return nil }
    self.init(of: exchange)
  }
}

extension ResponseFreshness {
  /// The validators of the response, with `weak-` before a weak one.
  fileprivate var validatorWords: [ByteString] {
    var words: [ByteString] = []
    if let entityTag { words.append(entityTag == .strong ? "etag" : "weak-etag") }
    if let lastModified {
      words.append(lastModified == .strong ? "last-modified" : "weak-last-modified")
    }
    return words
  }
}
