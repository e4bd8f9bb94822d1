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

  /// The part of the capacity that the files take up, 1 being all of it and more than 1 too much;
  /// `nil` if no capacity above zero is known.
  public var share: Double? {
    guard let capacityBytes, capacityBytes > 0 else { return nil }
    return Double(footprint.totalBytes) / Double(capacityBytes)
  }

  /// Measures a cache.
  ///
  /// Bodies that are missing count as entries of no bytes. A sum that is too large stays at the
  /// largest number: a store can claim any size.
  ///
  /// - Parameters:
  ///   - grouping: What to group by, or `nil` for no groups.
  ///   - capacityBytes: The limit to hold the footprint against, if there is one.
  ///   - selection: Which entries to count, and the moment that ``Selection/contains(_:now:)`` takes;
  ///     `nil` for all. The footprint is that of the whole store in any case.
  /// - Throws: What the source throws.
  /// - Complexity: O(*n*), where *n* is the number of entries; memory grows with the groups only.
  public init(
    of source: any ResponseSource, by grouping: Grouping?, capacityBytes: Int64?,
    selection: (criteria: Selection, now: Timestamp)? = nil
  ) throws {
    footprint = try source.footprint()
    self.capacityBytes = capacityBytes
    var places: [ByteString?: Int] = [:]
    var groups: [Group] = []
    var (entries, bodyBytes) = (Int64(0), Int64(0))
    var times: ClosedRange<Timestamp>?
    let projection = Self.projection(for: grouping)
      .union(selection?.criteria.projection ?? [])
    try source.forEachResponse(projection) { response in
      if let selection, !selection.criteria.contains(response, now: selection.now) { return .next }
      let size = response.bodySize ?? 0
      entries += 1
      bodyBytes = bodyBytes.addingClamped(size)
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
      groups[place].bytes = groups[place].bytes.addingClamped(size)
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
    case .host: [.body, .stored, .url]
    case .mime: [.body, .stored, .mimeType]
    case .status: [.body, .stored, .status]
    case .method: [.body, .stored, .method]
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
