import Bytes
import HTTPCaching
import ResponseStorage

extension UsageReport {
  /// What entries are grouped by.
  public enum Grouping: String, Hashable, Sendable, CaseIterable {
    case host, mime, status, method, scheme, partition
    case storagePolicy = "storage-policy"
    /// By what entries can be validated with.
    case validator
    /// By the known directives of `Cache-Control`: an entry counts in the group of each that it has.
    case directive
    /// By whether they are fresh: ``ResponseFreshness/State``.
    case freshness
    /// By what they are kept for: ``EntryClasses``.
    case entryClass = "class"
    /// By how long ago they were stored, in ranges.
    case age
    /// By the sizes of their bodies, in ranges.
    case size

    /// Whether the groups are ranges, which have an order of their own; others come the largest first.
    public var hasRanges: Bool { self == .age || self == .size }
  }
}

extension UsageReport.Grouping {
  /// What has to be decoded of a response to tell its group.
  var projection: Projection {
    switch self {
    case .host, .scheme: .url
    case .mime: .mimeType
    case .status: .status
    case .method: .method
    case .partition, .storagePolicy: .storage
    case .freshness, .validator: ResponseFreshness.projection
    case .directive: .responseHeaders
    case .age: .stored
    case .size: .body
    case .entryClass: []
    }
  }

  /// What the entries of a group have in common; `nil` if it is not known, or if the groups are ranges.
  ///
  /// - Parameters:
  ///   - now: The moment at which a response is fresh or stale.
  ///   - rules: The expiries of an application's own, which count for that.
  func key(
    of response: borrowing StoredResponse, at now: Timestamp, rules: [UserInfoExpiry.Rule]
  ) -> ByteString? {
    switch self {
    case .host: response.url.flatMap { CanonicalURL.host(of: $0) }
    case .mime: response.mimeType?.asciiLowercased
    case .status: response.status.map { ByteString(String($0)) }
    case .method: response.request.method
    case .scheme: response.url.flatMap { CanonicalURL.scheme(of: $0) }
    case .partition: response.partition
    case .storagePolicy: response.storagePolicy.map { ByteString($0.name) }
    case .freshness:
      ResponseFreshness(of: response, at: now, rules: rules).map {
        ByteString($0.state.rawValue)
      }
    case .validator:
      ResponseFreshness(of: response, at: now, rules: rules).map { ByteString($0.validators) }
    case .age, .size, .directive, .entryClass: nil
    }
  }
}

extension UsageReport.Grouping {
  /// The directives that stand in the `Cache-Control` of a response, each once; `none` if there is no
  /// known one, and `nil` if the header fields are not known.
  static func directives(of response: borrowing StoredResponse) -> [ByteString?] {
    guard let headers = response.responseHeaders else { return [nil] }
    var names: [CacheDirective.Name] = []
    for directive in CacheControl(FieldSection(headers)).directives
    where !names.contains(directive.name) {
      names.append(directive.name)
    }
    return names.isEmpty ? ["none"] : names.map { ByteString($0.rawValue) }
  }
}

extension ResponseFreshness {
  /// What a response can be validated with, in words.
  fileprivate var validators: String {
    let tag = entityTag.map { $0 == .strong ? "strong etag" : "weak etag" }
    let parts = [tag, lastModified == nil ? nil : "last-modified"].compactMap { $0 }
    return parts.isEmpty ? "none" : parts.joined(separator: ", ")
  }
}
