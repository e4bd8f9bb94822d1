import Bytes
import HTTPCaching
import ResponseStorage

extension UsageReport {
  /// A property to group entries by.
  public enum Grouping: String, Hashable, Sendable, CaseIterable {
    case host, mime, status, method, scheme, partition
    case storagePolicy = "storage-policy"
    /// The validators of the entries.
    case validator
    /// The known directives of `Cache-Control`; an entry counts in the group of each of its directives.
    case directive
    /// The freshness: ``ResponseFreshness/State``.
    case freshness
    /// The class: ``EntryClasses``.
    case entryClass = "class"
    /// The time since the entries were stored, in ranges.
    case age
    /// The size of the bodies, in ranges.
    case size

    /// Whether the groups are ranges, which are shown in order; other groups are sorted by size.
    public var hasRanges: Bool { self == .age || self == .size }
  }
}

extension UsageReport.Grouping {
  /// The fields needed to find the group of a response.
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

  /// Returns the key of the group of a response; `nil` if unknown, or if the groups are ranges.
  ///
  /// - Parameters:
  ///   - now: The time at which a response is fresh or stale.
  ///   - rules: The expiry rules of the app, which affect freshness.
  func key(
    of response: borrowing StoredResponse, at now: Timestamp, rules: [UserInfoExpiry.Rule]
  ) -> ByteString? {
    switch self {
    case .host: response.url.flatMap { CanonicalURL.host(of: $0) }
    // Media types are case-insensitive (RFC 9110 §8.3.1), and servers write both.
    case .mime: response.mimeType?.asciiLowercased
    case .status: response.status.map { ByteString(String($0)) }
    // Methods are case-sensitive (RFC 9110 §9.1), so they stay as they are.
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
  /// Returns the directives in the `Cache-Control` of a response, without duplicates; `none` if there is no known
  /// directive, and `nil` if the header fields are unknown.
  static func directives(of response: borrowing StoredResponse) -> [ByteString?] {
    guard let headers = response.responseHeaders else { return [nil] }
    var names: [CacheDirective.Name] = []
    for directive in CacheControl(FieldSection(headers)).directives
    // If a directive is repeated, only the first one applies (RFC 9111 §4.2.1), and it is one
    // entry.
    where !names.contains(directive.name) {
      names.append(directive.name)
    }
    return names.isEmpty ? ["none"] : names.map { ByteString($0.rawValue) }
  }
}

extension ResponseFreshness {
  /// The kinds of validators of a response, in words.
  fileprivate var validators: String {
    let tag = entityTag.map { $0 == .strong ? "strong etag" : "weak etag" }
    let parts = [tag, lastModified == nil ? nil : "last-modified"].compactMap { $0 }
    return parts.isEmpty ? "none" : parts.joined(separator: ", ")
  }
}
