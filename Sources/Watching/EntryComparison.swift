import ResponseStorage

/// The entries of a cache, compared with those of an earlier look. Memory grows with the number of differences.
struct EntryComparison {
  /// The entries that are new, or were stored again, in ascending order of their ids.
  private(set) var changed: [SeenEntry] = []
  /// The earlier entries that others replace, by the places of those in ``changed``.
  private(set) var replaced: [Int: SeenEntry] = [:]
  /// The earlier entries whose keys have no entry any more.
  private(set) var gone: [SeenEntry] = []

  /// Compares the entries.
  ///
  /// - Parameter source: The cache, which passes on its entries in ascending order of their ids; `nil` if there is none.
  init(of earlier: SeenEntries, with source: (any ResponseSource)?) throws {
    var rest = try earlier.makeReader()
    var next = try rest.next()
    try source?.scan(SeenEntry.projection) { response in
      let entry = SeenEntry(response)
      while let before = next, before.id < entry.id {
        gone.append(before)
        next = try rest.next()
      }
      guard let before = next, before.id == entry.id else {
        changed.append(entry)
        return .next
      }
      insert(entry, after: before)
      next = try rest.next()
      return .next
    }
    while let before = next {
      gone.append(before)
      next = try rest.next()
    }
    pair()
  }

  /// Inserts an entry that has the id of an earlier one.
  private mutating func insert(_ entry: SeenEntry, after earlier: SeenEntry) {
    if earlier.key == entry.key {
      guard earlier.version != entry.version else { return }
      replaced[changed.count] = earlier
    } else {
      // Another database, which counts from one again.
      gone.append(earlier)
    }
    changed.append(entry)
  }

  /// Recognizes entries that were removed and stored again under another id.
  private mutating func pair() {
    guard !gone.isEmpty, !changed.isEmpty else { return }
    var places: [Int: Int] = [:]
    for (place, entry) in gone.enumerated() {
      if let key = entry.key { places[key] = place }
    }
    var paired: Set<Int> = []
    for (index, entry) in changed.enumerated() where replaced[index] == nil {
      guard let key = entry.key, let place = places.removeValue(forKey: key) else { continue }
      replaced[index] = gone[place]
      paired.insert(place)
    }
    guard !paired.isEmpty else { return }
    gone = gone.enumerated().filter { !paired.contains($0.offset) }.map(\.element)
  }
}
