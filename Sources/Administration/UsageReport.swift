public import ResponseStorage

/// What a cache takes up, in all and by groups.
public struct UsageReport: Hashable, Sendable {
  /// What entries are grouped by.
  public enum Grouping: String, Hashable, Sendable, CaseIterable {
    case host, mime, status, method
  }

  /// The entries that have something in common.
  public struct Group: Hashable, Sendable {
    /// What they have in common; `nil` if it is not known.
    public var key: ByteString?
    /// The number of entries.
    public var entries: Int64 = 0
    /// The sum of the sizes of their bodies.
    public var bytes: Int64 = 0
  }

  /// The number of entries.
  public var entries: Int64 = 0
  /// The sum of the sizes of the bodies, in bytes.
  public var bodyBytes: Int64 = 0
  /// The oldest and the newest time at which an entry was stored.
  public var storedTimes: ClosedRange<Timestamp>?
  /// What the files take up.
  public var footprint: Footprint
  /// The limit that the footprint is held against, in bytes; a cache does not hold its own.
  public var capacityBytes: Int64?
  /// The groups, the largest first.
  public var groups: [Group] = []

  /// Measures a cache.
  ///
  /// - Complexity: O(*n*), where *n* is the number of entries; memory grows with the groups only.
  public init(of source: any ResponseSource, by grouping: Grouping?, capacityBytes: Int64?) throws {
    footprint = try source.footprint()
    self.capacityBytes = capacityBytes
    var places: [ByteString?: Int] = [:]
    var groups: [Group] = []
    var (entries, bodyBytes) = (Int64(0), Int64(0))
    var times: ClosedRange<Timestamp>?
    try source.forEachResponse(Self.projection(for: grouping)) { response in
      let size = response.bodySize ?? 0
      entries += 1
      bodyBytes += size
      if let time = response.stored {
        let range = times ?? time...time
        times = min(range.lowerBound, time)...max(range.upperBound, time)
      }
      guard let grouping else { return .next }
      let key = Self.key(of: response, by: grouping)
      let place: Int
      if let known = places[key] {
        place = known
      } else {
        place = groups.count
        places[key] = place
        groups.append(Group(key: key))
      }
      groups[place].entries += 1
      groups[place].bytes += size
      return .next
    }
    (self.entries, self.bodyBytes, storedTimes) = (entries, bodyBytes, times)
    self.groups = groups.sorted { first, second in
      if first.bytes != second.bytes { return first.bytes > second.bytes }
      if first.entries != second.entries { return first.entries > second.entries }
      return (first.key?.bytes ?? []).lexicographicallyPrecedes(second.key?.bytes ?? [])
    }
  }

  private static func projection(for grouping: Grouping?) -> Projection {
    switch grouping {
    case .host: [.body, .url]
    case .mime: [.body, .mimeType]
    case .status: [.body, .status]
    case .method: [.body, .method]
    case nil: [.body, .stored]
    }
  }

  private static func key(of response: borrowing StoredResponse, by grouping: Grouping)
    -> ByteString?
  {
    switch grouping {
    case .host: response.url.flatMap { CanonicalURL.host(of: $0) }
    case .mime: response.mimeType?.asciiLowercased
    case .status: response.status.map { ByteString(String($0)) }
    case .method: response.request.method
    }
  }
}
