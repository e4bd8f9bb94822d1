public import Bytes
import Files
import ResponseArchives
public import ResponseStorage

/// The differences between two stores: responses that only one of them has, and responses that differ.
///
/// Responses with the same key are compared; their locations and numbers do not matter.
public struct StoreComparison: Hashable, Sendable {
  /// An aspect in which two responses can differ.
  public enum Aspect: String, Hashable, Sendable, CaseIterable {
    /// The bytes of the body.
    case body
    /// The status and the header fields of the response, without validators.
    case headers
    /// `ETag` and `Last-Modified`.
    case validators
    /// Everything else: the request, the times, the policy, the partition, and the properties that the app and
    /// CFNetwork attached. Of stores in different formats, only what both can keep.
    case other
  }

  /// The change of a response from the first store to the second.
  public enum Change: String, Hashable, Sendable, CaseIterable {
    case added
    case removed
    case changed
  }

  /// A response that only one of the stores has, or that differs.
  public struct Difference: Hashable, Sendable {
    /// Its key.
    public var key: ByteString
    /// Its URL.
    public var url: ByteString?
    /// The kind of change.
    public var change: Change
    /// The aspects that changed.
    public var aspects: [Aspect] = []
    /// Its id in the first store; `nil` if it is not there.
    public var first: StoredResponse.ID?
    /// Its id in the second store; `nil` if it is not there.
    public var second: StoredResponse.ID?
  }

  /// The differences, in the order of keys.
  public var differences: [Difference] = []
  /// The number of identical responses.
  public var same: Int64 = 0
  /// The number of responses of both stores that were left out because they cannot be read.
  public var leftOut: Int64 = 0
  /// Whether one store keeps less of a response than the other, so that only a part was compared.
  public let isReduced: Bool

  /// Returns the number of responses with this change.
  public func count(_ change: Change) -> Int { differences.count { $0.change == change } }

  /// Compares the selected responses of two stores.
  ///
  /// - Parameters:
  ///   - aspects: The aspects to compare.
  ///   - normalizingJSON: Whether bodies with the same JSON value count as equal, regardless of formatting.
  ///   - selection: The responses of the first store.
  ///   - others: The responses of the second store; `nil` for the same selection.
  /// - Complexity: Memory grows with the number of responses of the first store.
  public init(
    of first: any ResponseSource, with second: any ResponseSource, by aspects: Set<Aspect>,
    normalizingJSON: Bool = false, selecting selection: Selection,
    amongOthers others: Selection? = nil, now: Timestamp
  ) throws {
    let formats = try [first.rawLayout.format, second.rawLayout.format]
    let isReduced = formats.contains(.foundation) && formats[0] != formats[1]
    self.isReduced = isReduced
    let otherSelection = others ?? selection
    // Several responses can have the same key, or none, so the identical ones are matched first.
    var known: [ByteString: [Fingerprint]] = [:]
    func forEachFingerprint(
      of source: any ResponseSource, _ selection: Selection,
      _ body: (ByteString, Fingerprint) throws -> Void
    ) throws -> Int64 {
      try Self.forEachFingerprint(
        of: source, aspects, normalizingJSON: normalizingJSON, isReduced: isReduced, selection,
        now, body)
    }
    leftOut += try forEachFingerprint(of: first, selection) { key, print in
      known[key, default: []].append(print)
    }
    var others: [(key: ByteString, print: Fingerprint)] = []
    leftOut += try forEachFingerprint(of: second, otherSelection) { key, print in
      // Identical ones first, so that one change among several responses with a key is shown as
      // one.
      if let place = known[key]?.firstIndex(where: { $0.digests == print.digests }) {
        known[key]?.remove(at: place)
        same += 1
      } else {
        others.append((key, print))
      }
    }
    var differences: [Difference] = []
    for (key, print) in others {
      // Of several responses with this key, any may be the one that changed.
      guard let other = known[key]?.popLast() else {
        differences.append(.init(key: key, url: print.url, change: .added, second: print.id))
        continue
      }
      let differing = Aspect.allCases.filter { print.digests[$0] != other.digests[$0] }
      differences.append(
        .init(
          key: key, url: print.url, change: .changed, aspects: differing, first: other.id,
          second: print.id))
    }
    for (key, prints) in known {
      differences += prints.map {
        .init(key: key, url: $0.url, change: .removed, first: $0.id)
      }
    }
    // A dictionary has another order in each run.
    self.differences = differences.sorted { $0.key < $1.key }
  }

  // Digests instead of contents: one of the stores is in memory as a whole.
  /// The values of a response that are compared.
  private struct Fingerprint {
    var id: StoredResponse.ID
    var url: ByteString?
    var digests: [Aspect: String] = [:]
  }

  /// Calls `body` with each response, and returns the number of unreadable responses.
  private static func forEachFingerprint(
    of source: any ResponseSource, _ aspects: Set<Aspect>, normalizingJSON: Bool, isReduced: Bool,
    _ selection: Selection, _ now: Timestamp, _ body: (ByteString, Fingerprint) throws -> Void
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
      // What cannot be read cannot be compared. It is counted, so that "no differences" does not
      // say more than is known.
      guard raw.finding == nil else {
        leftOut += 1
        return .next
      }
      let response = StoredResponse(decoding: raw, .all)
      // The number of a raw response is not the id of an entry in a Foundation store.
      var print = Fingerprint(id: id ?? response.id, url: response.url)
      for aspect in aspects {
        print.digests[aspect] =
          aspect == .body && normalizingJSON
          ? try raw.part(.body)?.content?.jsonDigest()
          : isReduced && aspect != .body
            ? reducedDigest(of: aspect, response) : try digest(of: aspect, response, raw)
      }
      try body(key(of: response, isReduced: isReduced), print)
      return .next
    }
    return leftOut
  }

  private static func key(of response: StoredResponse, isReduced: Bool) -> ByteString {
    let key = response.key ?? response.url ?? ""
    // A Foundation store has no partitions, which end the keys of Apple's.
    guard isReduced, let partition = response.partition else { return key }
    let end = Array("[".utf8) + partition.bytes + Array("]".utf8)
    return key.bytes.count > end.count && key.bytes.suffix(end.count).elementsEqual(end)
      ? ByteString(key.bytes.dropLast(end.count)) : key
  }

  private static func digest(
    of aspect: Aspect, _ response: StoredResponse, _ raw: RawResponse
  ) throws -> String? {
    switch aspect {
    case .body: return try raw.part(.body)?.content?.digest()
    case .headers:
      let fields = response.responseHeaders?.fields.filter { !isValidator($0.name) }
      return digest(["\(response.status ?? -1)"], fields)
    case .validators:
      return digest([], response.responseHeaders?.fields.filter { isValidator($0.name) })
    case .other:
      // Without `entry_ID` and `hash_value`: a cache and its copy made by an import may differ in
      // both.
      let values = ["version", "storage_policy", "time_stamp", "partition"].map {
        "\(raw.value(of: $0) ?? .null)"
      }
      let lists = try [.requestObject, .protocolProperties, .userInfo].map { name in
        try raw.part(name)?.content?.digest() ?? "-"
      }
      return digest(values + lists + ["\(response.stored?.secondsSince1970 ?? -1)"], [])
    }
  }

  /// Returns the digest of what a Foundation store keeps: whole seconds, and header fields whose names have another
  /// case and of which repeated ones are joined.
  private static func reducedDigest(of aspect: Aspect, _ response: StoredResponse) -> String? {
    switch aspect {
    case .body: return nil
    case .headers, .validators:
      var values: [ByteString: [UInt8]] = [:]
      for field in response.responseHeaders?.fields ?? []
      where isValidator(field.name) == (aspect == .validators) {
        let name = field.name.asciiLowercased
        values[name] = values[name].map { $0 + ", ".utf8 + field.value.bytes } ?? field.value.bytes
      }
      let fields = values.map { HeaderFields.Field(name: $0, value: ByteString($1)) }
      return digest(aspect == .headers ? ["\(response.status ?? -1)"] : [], fields)
    case .other:
      let seconds = response.stored.map { $0.secondsSince1970.rounded(.down) } ?? -1
      return digest(["\(seconds)"] + response.userInfo.map { "\($0)" }.sorted(), [])
    }
  }

  private static func isValidator(_ name: ByteString) -> Bool {
    name.equalsIgnoringASCIICase("etag") || name.equalsIgnoringASCIICase("last-modified")
  }

  /// Returns the digest of texts and header fields, each with its length, sorted by name.
  private static func digest(_ texts: [String], _ fields: [HeaderFields.Field]?) -> String {
    var digest = Digest()
    func append(_ bytes: [UInt8]) {
      // Prefix each text with its length, so that moved boundaries change the digest.
      digest.update(Array("\(bytes.count):".utf8)[...])
      digest.update(bytes[...])
    }
    for text in texts { append(Array(text.utf8)) }
    // Stores keep header fields in dictionaries, which have no order. Only the order of fields with
    // the same name has a meaning (RFC 9110 §5.3).
    let sorted = (fields ?? []).enumerated().sorted {
      ($0.element.name, $0.offset) < ($1.element.name, $1.offset)
    }
    for (_, field) in sorted {
      append(field.name.bytes)
      append(field.value.bytes)
    }
    return digest.hexadecimal
  }
}
