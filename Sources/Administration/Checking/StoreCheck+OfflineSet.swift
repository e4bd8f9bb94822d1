public import Bytes
public import ResponseStorage

extension Finding.Code {
  static let offlineMissing = Self(
    "offline-missing", .error, "the app gets nothing for this URL when offline")
  static let offlineUnusable = Self(
    "offline-unusable", .error, "the app gets nothing, or only part of the body, when offline")
  static let offlineStale = Self(
    "offline-stale", .warning,
    "offline, the app gets it only if its request policy accepts stale data")
  static let offlineOtherURL = Self(
    "offline-other-url", .warning, "the app gets the response stored for a different URL")
}

extension StoreCheck {
  /// Checks only whether a store has a usable entry for each of the given URLs.
  ///
  /// An entry matches a URL as the store looks it up: by the URL or the key in an Apple store, and by the key, which
  /// has neither scheme nor query, in a Foundation store. It is usable if no finding keeps the app from getting all of
  /// it, and if it is fresh or has no lifetime. Of several entries for a URL the best one counts.
  ///
  /// - Parameter report: Called with each finding, in the order of the URLs.
  /// - Complexity: O(*n* + *m*) time, where *n* is the number of entries and *m* the number of URLs; memory grows with
  ///   *m*.
  public init(
    offlineSet urls: [ByteString], of source: any ResponseSource, _ options: Options,
    _ report: (Finding) throws -> Void
  ) throws {
    self.init(options, of: source.description)
    var set = OfflineSet(urls)
    // Few entries match a URL of the set. Only those are read again with everything that the checks
    // need.
    try source.scan(OfflineSet.projection) { response in
      plan.storedEntries += 1
      set.find(response)
      return .next
    }
    let check = EntryCheck(now: options.now, clock: options.clock)
    let projection = EntryCheck.projection.union(ResponseFreshness.projection)
    for (url, ids) in set.entries {
      var best = Finding(.offlineMissing, "no entry for this URL", url: url)
      for (number, id) in ids.enumerated() {
        guard let response = try source.response(id, projection) else { continue }
        guard let finding = check.finding(on: response, offlineFor: url) else {
          best.code = .offlineUsable
          break
        }
        // A warning is better than an error, because the app then gets at least something.
        if number == 0 || finding.code.severity == .warning { best = finding }
      }
      if best.code != .offlineUsable { try record(best, report) }
    }
  }
}

extension Finding.Code {
  /// A marker for a usable entry; never reported.
  fileprivate static let offlineUsable = Self("offline-usable", .note, "")
}

/// URLs with the entries that match them.
private struct OfflineSet {
  static let projection: Projection = [.url, .key]

  /// The URLs without duplicates, in the order given.
  private(set) var entries: [(url: ByteString, ids: [StoredResponse.ID])] = []
  private var placesByURL: [ByteString: Int] = [:]
  private var placesByKey: [ByteString: [Int]] = [:]

  init(_ urls: [ByteString]) {
    for url in urls where placesByURL[CanonicalURL.of(url)] == nil {
      placesByURL[CanonicalURL.of(url)] = entries.count
      if let key = FoundationKey(of: url) {
        placesByKey[key.text, default: []].append(entries.count)
      }
      entries.append((url, []))
    }
  }

  /// Adds a response to the URLs that it matches.
  mutating func find(_ response: borrowing StoredResponse) {
    // `URLCache` does not find it under any URL, so it is of no use offline.
    let id = response.id
    if case .file = id {
      for place in response.key.flatMap({ placesByKey[$0] }) ?? [] { entries[place].ids.append(id) }
    } else {
      // After a redirect, URL and key differ, and an app may request either.
      for place in Set([place(of: response.url), place(of: response.key)].compactMap(\.self)) {
        entries[place].ids.append(id)
      }
    }
  }

  private func place(of url: ByteString?) -> Int? {
    url.flatMap { placesByURL[CanonicalURL.of($0)] }
  }
}

extension EntryCheck {
  /// Returns what keeps an app from using an entry for a URL while offline; `nil` if nothing does.
  fileprivate func finding(
    on response: borrowing StoredResponse, offlineFor url: ByteString
  ) -> Finding? {
    // Other findings, such as `no-store`, do not keep the app from getting the body offline.
    let blocking = findings(on: response).filter {
      $0.code.severity == .error || $0.code == .partialBody
    }
    if let finding = blocking.first {
      return Finding(.offlineUnusable, finding.message, id: response.id, url: url)
    }
    // The key of a Foundation store has no query, so the store answers with whatever was stored
    // last for the path.
    if let names = EntryNames([.url(url)]).lookup(of: response), !names.isRedirected {
      let message =
        names.differsByQuery
        ? "its entry was stored with a different query" : "its entry was stored for a different URL"
      return Finding(.offlineOtherURL, message, id: response.id, url: url)
    }
    // A response without a lifetime is no finding: Foundation on Linux was seen to use such a
    // response for ever, and Apple's heuristic is not documented.
    let freshness = ResponseFreshness(of: response, at: now, rules: UserInfoExpiry.known)
    guard freshness?.state == .stale else { return nil }
    return Finding(.offlineStale, "its entry is stale", id: response.id, url: url)
  }
}
