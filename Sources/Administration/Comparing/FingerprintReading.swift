import Bytes
import ResponseArchives
import ResponseStorage

/// Reads the fingerprints of responses: digests, so that responses can be compared that are not in memory.
struct FingerprintReading {
  /// The aspects to compare.
  private(set) var aspects: Set<StoreComparison.Aspect>
  /// Whether bodies with the same JSON value count as equal.
  let normalizingJSON: Bool
  /// Whether to compare only what all stores can keep.
  let isReduced: Bool
  /// The time for the selections.
  let now: Timestamp

  /// Reads only keys, URLs and ids.
  var withoutAspects: Self {
    var reading = self
    reading.aspects = []
    return reading
  }

  /// What to decode of each response.
  private var projection: Projection {
    var projection: Projection = [.key, .url]
    if isReduced { projection.formUnion(.storage) }
    if !aspects.isDisjoint(with: [.headers, .validators]) {
      projection.formUnion([.responseHeaders, .status])
    }
    if aspects.contains(.other) {
      projection.formUnion(isReduced ? [.stored, .userInfo] : .stored)
    }
    return projection
  }

  /// Calls `body` with each selected response, and returns the number of unreadable responses.
  func forEach(
    of source: any ResponseSource, _ selection: Selection,
    _ body: (EntryFingerprint) throws -> Void
  ) throws -> Int64 {
    var leftOut: Int64 = 0
    var id: StoredResponse.ID?
    try source.forEachRawResponse(
      selection.projection,
      where: { response in
        id = response.id
        return try selection.contains(response, now: now)
      }
    ) { raw in
      if let print = try fingerprint(of: raw, id) { try body(print) } else { leftOut += 1 }
      return .next
    }
    return leftOut
  }

  /// Calls `body` with each response with one of some ids, and returns the number of unreadable responses.
  func forEach(
    of source: any ResponseSource, _ ids: [Int64], _ body: (EntryFingerprint) throws -> Void
  ) throws -> Int64 {
    var leftOut: Int64 = 0
    guard !ids.isEmpty else { return leftOut }
    try source.forEachRawResponse(of: ids) { raw in
      if let print = try fingerprint(of: raw, nil) { try body(print) } else { leftOut += 1 }
    }
    return leftOut
  }

  /// Calls closures with the responses of two sources, one of which a thread reads at the same time.
  ///
  /// - Parameters:
  ///   - others: The responses of the other source.
  ///   - goesFirst: Whether an error of the other source is thrown if both have one.
  /// - Returns: The number of unreadable responses of both.
  func forEach(
    of source: any ResponseSource, _ selection: Selection,
    _ body: (EntryFingerprint) throws -> Void, and others: FingerprintsAhead, goesFirst: Bool,
    _ other: (EntryFingerprint) throws -> Void
  ) throws -> Int64 {
    let own = Result {
      try forEach(of: source, selection) { print in
        try body(print)
        try others.takeReady(other)
      }
    }
    let rest = Result { try others.takeRest(other) }
    return goesFirst ? try rest.get() + own.get() : try own.get() + rest.get()
  }

  /// Returns the fingerprint of a response; `nil` if it cannot be read.
  ///
  /// - Parameter id: Its id; `nil` for the number of the raw response.
  func fingerprint(
    of raw: RawResponse, _ id: StoredResponse.ID?
  ) throws -> EntryFingerprint? {
    // What cannot be read cannot be compared. It is counted, so that "no differences" does not say more than is known.
    guard raw.finding == nil else { return nil }
    let response = StoredResponse(decoding: raw, projection)
    // The number of a raw response is not the id of an entry in a Foundation store.
    var print = EntryFingerprint(
      key: key(of: response), url: response.url, id: id ?? response.id)
    for aspect in aspects { print.digests[aspect] = try digest(of: aspect, response, raw) }
    return print
  }

  private func key(of response: borrowing StoredResponse) -> ByteString {
    let key = response.key ?? response.url ?? ""
    // A Foundation store has no partitions, which end the keys of Apple's.
    guard isReduced, let partition = response.partition else { return key }
    let end = Array("[".utf8) + partition.bytes + Array("]".utf8)
    return key.bytes.count > end.count && key.bytes.suffix(end.count).elementsEqual(end)
      ? ByteString(Array(key.bytes.dropLast(end.count))) : key
  }

  private func digest(
    of aspect: StoreComparison.Aspect, _ response: borrowing StoredResponse, _ raw: RawResponse
  ) throws -> PartDigest {
    if aspect == .body {
      guard let body = raw.part(.body)?.content else { return .none }
      return PartDigest(normalizingJSON ? try body.jsonDigest() : try body.digest())
    }
    return isReduced
      ? Self.reducedDigest(of: aspect, response) : try Self.digest(of: aspect, response, raw)
  }

  private static func digest(
    of aspect: StoreComparison.Aspect, _ response: borrowing StoredResponse, _ raw: RawResponse
  ) throws -> PartDigest {
    var bytes = DigestedBytes()
    switch aspect {
    case .body: return .none
    case .headers:
      bytes.append(UInt64(bitPattern: Int64(response.status ?? -1)))
      append(to: &bytes, response.responseHeaders?.fields.filter { !isValidator($0.name) })
    case .validators:
      append(to: &bytes, response.responseHeaders?.fields.filter { isValidator($0.name) })
    case .other:
      // Without `entry_ID` and `hash_value`: a cache and its copy made by an import may differ in
      // both.
      for column in ["version", "storage_policy", "time_stamp", "partition"] {
        bytes.append(raw.value(of: column) ?? .null)
      }
      for name in [.requestObject, .protocolProperties, .userInfo] as [RawResponse.Part.Name] {
        // Archives know the digests of the lists.
        bytes.append(Array((try raw.part(name)?.content?.digest() ?? "-").utf8))
      }
      // A HAR has milliseconds, and no output shows more of a time.
      bytes.append(((response.stored?.secondsSince1970 ?? -1) * 1_000).rounded().bitPattern)
    }
    return bytes.digest
  }

  /// Returns the digest of what a Foundation store keeps: whole seconds, and header fields whose names have another
  /// case and of which repeated ones are joined.
  private static func reducedDigest(
    of aspect: StoreComparison.Aspect, _ response: borrowing StoredResponse
  ) -> PartDigest {
    var bytes = DigestedBytes()
    switch aspect {
    case .body: return .none
    case .headers, .validators:
      var values: [ByteString: [UInt8]] = [:]
      for field in response.responseHeaders?.fields ?? []
      where isValidator(field.name) == (aspect == .validators) {
        let name = field.name.asciiLowercased
        values[name] = values[name].map { $0 + ", ".utf8 + field.value.bytes } ?? field.value.bytes
      }
      if aspect == .headers { bytes.append(UInt64(bitPattern: Int64(response.status ?? -1))) }
      append(to: &bytes, values.map { HeaderFields.Field(name: $0, value: ByteString($1)) })
    case .other:
      let seconds = response.stored.map { $0.secondsSince1970.rounded(.down) } ?? -1
      bytes.append(seconds.bitPattern)
      for text in response.userInfo.map({ "\($0)" }).sorted() {
        bytes.append(Array(text.utf8))
      }
    }
    return bytes.digest
  }

  private static func isValidator(_ name: ByteString) -> Bool {
    name.equalsIgnoringASCIICase("etag") || name.equalsIgnoringASCIICase("last-modified")
  }

  /// Adds header fields, sorted by name.
  private static func append(
    to bytes: inout DigestedBytes, _ fields: [HeaderFields.Field]?
  ) {
    // Stores keep header fields in dictionaries, which have no order. Only the order of fields with
    // the same name has a meaning (RFC 9110 §5.3).
    let sorted = (fields ?? []).enumerated().sorted {
      ($0.element.name, $0.offset) < ($1.element.name, $1.offset)
    }
    for (_, field) in sorted {
      bytes.append(field.name.bytes)
      bytes.append(field.value.bytes)
    }
  }
}
