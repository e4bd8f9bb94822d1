import ResponseStorage

/// The entries of a cache, compared with those of an earlier look.
struct EntryComparison {
  /// The present entries, in ascending order of their ids.
  private(set) var entries: [SeenEntry] = []
  /// The places in ``entries`` of those that are new, or were stored again.
  private(set) var changed: [Int] = []
  /// The earlier entries that others replace, by the places of those.
  private(set) var replaced: [Int: SeenEntry] = [:]
  /// The earlier entries whose keys have no entry any more.
  private(set) var gone: [SeenEntry] = []

  /// Compares the entries.
  ///
  /// - Parameters:
  ///   - earlier: The earlier entries, in ascending order of their ids.
  ///   - source: The cache, which passes on its entries in the same order; `nil` if there is none.
  init(of earlier: [SeenEntry], with source: (any ResponseSource)?) throws {
    entries.reserveCapacity(earlier.count)
    var index = 0
    try source?.scan(SeenEntry.projection) { response in
      guard !response.isOrphan else { return .next }
      let entry = SeenEntry(response)
      while index < earlier.count, earlier[index].id < entry.id {
        gone.append(earlier[index])
        index += 1
      }
      if index < earlier.count, earlier[index].id == entry.id {
        insert(entry, after: earlier[index])
        index += 1
      } else {
        changed.append(entries.count)
        entries.append(entry)
      }
      return .next
    }
    gone += earlier[index...]
    pair()
  }

  /// Inserts an entry that has the id of an earlier one.
  private mutating func insert(_ entry: SeenEntry, after earlier: SeenEntry) {
    if earlier.key == entry.key, earlier.version == entry.version {
      entries.append(earlier)
      return
    }
    changed.append(entries.count)
    if earlier.key == entry.key {
      replaced[entries.count] = earlier
    } else {
      // Another database, which counts from one again.
      gone.append(earlier)
    }
    var entry = entry
    if earlier.key == entry.key {
      (entry.url, entry.isSelected) = (earlier.url, earlier.isSelected)
    }
    entries.append(entry)
  }

  /// Recognizes entries that were removed and stored again under another id.
  private mutating func pair() {
    guard !gone.isEmpty, !changed.isEmpty else { return }
    var places: [Int: Int] = [:]
    for (place, entry) in gone.enumerated() {
      if let key = entry.key { places[key] = place }
    }
    var paired: Set<Int> = []
    for index in changed where replaced[index] == nil {
      guard let key = entries[index].key, let place = places.removeValue(forKey: key) else {
        continue
      }
      replaced[index] = gone[place]
      paired.insert(place)
    }
    guard !paired.isEmpty else { return }
    gone = gone.enumerated().filter { !paired.contains($0.offset) }.map(\.element)
  }
}
