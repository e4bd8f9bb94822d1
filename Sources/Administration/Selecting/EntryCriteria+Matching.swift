import Bytes
import Matching
import ResponseStorage

/// Criteria of single options, all of which must match.
extension EntryCriteria {
  /// Whether the host is one of ``hosts``.
  func matchesHost(_ response: borrowing StoredResponse) -> Bool {
    guard let host = response.url.flatMap({ CanonicalURL.comparedHost(of: $0) }) else {
      return false
    }
    return hosts.contains { $0.covers(host) }
  }

  /// Whether the query has one of ``parameters``.
  func matchesParameter(_ response: borrowing StoredResponse) -> Bool {
    guard let url = response.url else { return false }
    return parameters.contains { $0.holds(in: url) }
  }

  /// Whether the header fields match.
  func matchesHeaders(_ response: borrowing StoredResponse) -> Bool {
    if !headers.isEmpty {
      let fields = response.responseHeaders
      guard headers.contains(where: { $0.holds(in: fields) }) else { return false }
    }
    guard !requestHeaders.isEmpty else { return true }
    let fields = response.request.headers
    return requestHeaders.contains { $0.holds(in: fields) }
  }

  /// All texts that bodies are searched for.
  var allTexts: Set<ByteString> {
    Set(texts + conditions.flatMap(\.bodyTexts))
  }

  /// Whether there is a pattern for whole URLs or a prefix.
  var hasPatterns: Bool { !prefixes.isEmpty || !globs.isEmpty || !expressions.isEmpty }

  /// Whether the URL matches the prefixes, patterns and expressions.
  func matchesPattern(
    _ response: borrowing StoredResponse
  ) throws(RegularExpression.Overrun) -> Bool {
    guard let url = response.url ?? response.key else { return false }
    // Nearly all URLs have one spelling: an array of it would need an allocation for each.
    if CanonicalURL.hasPlainHost(url.bytes) {
      guard prefixes.isEmpty || matchesPrefix(url), globs.isEmpty || matchesGlob(url) else {
        return false
      }
      if expressions.isEmpty { return true }
      return try matchesExpression(url)
    }
    let spellings = CanonicalURL.spellings(of: url)
    guard prefixes.isEmpty || spellings.contains(where: matchesPrefix),
      globs.isEmpty || spellings.contains(where: matchesGlob)
    else { return false }
    if expressions.isEmpty { return true }
    for spelling in spellings where try matchesExpression(spelling) { return true }
    return false
  }

  private func matchesPrefix(_ url: ByteString) -> Bool {
    prefixes.contains { $0.begins(url) }
  }

  private func matchesGlob(_ url: ByteString) -> Bool {
    globs.contains { $0.matches(url) }
  }

  private func matchesExpression(_ url: ByteString) throws(RegularExpression.Overrun) -> Bool {
    for expression in expressions where try expression.matches(url) { return true }
    return false
  }

  /// Whether the method, status and media type match.
  func matchesMessage(_ response: borrowing StoredResponse) -> Bool {
    if !methods.isEmpty {
      // A Foundation store keeps no request, so no method selects its entries.
      guard let method = response.request.method,
        methods.contains(where: { $0.equalsIgnoringASCIICase(method) })
      else { return false }
    }
    if !statuses.isEmpty {
      guard let status = response.status, statuses.contains(where: { $0.contains(status) }) else {
        return false
      }
    }
    guard !mimeTypes.isEmpty else { return true }
    guard let type = response.mimeType?.asciiLowercased else { return false }
    return mimeTypes.contains { $0.matches(type) }
  }

  /// Whether the partition, the storage policy and what the app attached match.
  func matchesStorage(_ response: borrowing StoredResponse) -> Bool {
    (partitions.isEmpty || response.partition.map({ partitions.contains($0) }) ?? false)
      && (storagePolicies.isEmpty || response.storagePolicy.map(storagePolicies.contains) ?? false)
      && (userInfo.isEmpty || userInfo.contains { $0.holds(in: response.userInfo) })
  }

  /// Whether any criterion but expressions depends on freshness.
  var asksForFreshness: Bool {
    !freshness.isEmpty || expiresWithin != nil || !validators.isEmpty
  }

  /// Whether any criterion depends on freshness.
  var needsFreshness: Bool {
    asksForFreshness || conditions.contains(where: \.needsFreshness)
  }

  /// Whether the freshness and the validators match.
  func matches(_ found: ResponseFreshness) -> Bool {
    (freshness.isEmpty || freshness.contains(found.state))
      && (expiresWithin.map { found.expires(within: $0) } ?? true)
      && (validators.isEmpty || validators.contains { found.has($0) })
  }

  /// Whether the location and size of the body match.
  func matchesBody(_ response: borrowing StoredResponse) -> Bool {
    if !bodyLocations.isEmpty {
      guard let location = response.bodyLocation, bodyLocations.contains(location) else {
        return false
      }
    }
    guard largerThan != nil || smallerThan != nil else { return true }
    guard let size = response.bodySize else { return false }
    return (largerThan.map { size > $0 } ?? true) && (smallerThan.map { size < $0 } ?? true)
  }
}
