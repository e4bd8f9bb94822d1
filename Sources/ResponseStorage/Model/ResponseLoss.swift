/// A part of a response that a store of another kind cannot keep.
public enum ResponseLoss: String, Hashable, Sendable, CaseIterable {
  /// The requested URL as it was written.
  case requestURL = "request-url"
  /// The header fields of the request.
  case requestHeaders = "request-headers"
  /// The body of the request.
  case requestBody = "request-body"
  /// The request policy and the time-out.
  case requestDetails = "request-details"
  /// The URL of the response, as it was written.
  case url
  /// The media type.
  case mimeType = "mime-type"
  /// Which header fields of the response were repeated, or the case of their names.
  case responseHeaders = "response-headers"
  /// When the response was first stored.
  case firstStored = "first-stored"
  /// When the response was last stored or refreshed.
  case stored
  /// The cache partition.
  case partition
  /// User info that the app attached.
  case userInfo = "user-info"
  /// The `Vary` record, or properties of the request.
  case protocolProperties = "protocol-properties"
  /// Other contents of the property lists.
  case other
}

extension ResponseLoss {
  /// Returns what a response loses when a store keeps it.
  ///
  /// The id, the location of the body and the hash of the key are ignored.
  // The result is compared after decoding both, and not derived from what a store is known to keep.
  // So a loss that nobody has thought of is still reported.
  static func losses(from raw: RawResponse, to kept: RawResponse) -> [ResponseLoss] {
    let (old, new) = (StoredResponse(decoding: raw, .all), StoredResponse(decoding: kept, .all))
    var losses = allCases.filter { $0.isLost(from: old, to: new) }
    // The bytes are compared as well, as a list can contain more than what is decoded of it.
    for (part, related) in Self.related where related.isDisjoint(with: losses) {
      if !raw.hasSame(part, as: kept), losses.last != .other { losses.append(.other) }
    }
    return losses
  }

  /// The parts that are property lists, with what is decoded from each.
  private static let related: [(RawResponse.Part.Name, Set<ResponseLoss>)] = [
    (.responseObject, [.url, .mimeType, .responseHeaders, .stored]),
    (.requestObject, [.requestURL, .requestHeaders, .requestBody, .requestDetails]),
    (.protocolProperties, [.protocolProperties]), (.userInfo, [.userInfo]),
  ]

  private func isLost(from old: StoredResponse, to new: StoredResponse) -> Bool {
    switch self {
    case .requestURL: old.key != new.key || old.request.url != new.request.url
    case .requestHeaders: old.request.headers != new.request.headers
    case .requestBody: old.request.body != new.request.body
    case .requestDetails:
      old.request.cachePolicy != new.request.cachePolicy
        || old.request.timeoutSeconds != new.request.timeoutSeconds
    case .url: old.url != new.url
    case .mimeType: old.mimeType != new.mimeType
    case .responseHeaders: old.sortedHeaders != new.sortedHeaders
    case .firstStored: old.firstStored != new.firstStored
    case .stored: old.stored != new.stored
    case .partition: old.partition != new.partition
    case .userInfo: old.userInfo != new.userInfo
    case .protocolProperties: old.protocolProperties != new.protocolProperties
    case .other: false
    }
  }
}

extension StoredResponse {
  /// The header fields of the response by name; fields with the same name keep their order.
  fileprivate var sortedHeaders: [HeaderFields.Field] {
    // Foundation writes a dictionary, whose order has no meaning; only the order of lines with one
    // name has one (RFC 9110 §5.3).
    let fields = (responseHeaders?.fields ?? []).enumerated().sorted {
      ($0.element.name, $0.offset) < ($1.element.name, $1.offset)
    }
    return fields.map(\.element)
  }
}

extension RawResponse {
  /// Whether a property list has the same bytes in both responses, or is in neither.
  fileprivate func hasSame(_ name: Part.Name, as other: RawResponse) -> Bool {
    switch (part(name)?.content, other.part(name)?.content) {
    case (nil, nil): true
    case (let content?, let other?): content.bytes.map { $0 == other.bytes } ?? false
    default: false
    }
  }
}
