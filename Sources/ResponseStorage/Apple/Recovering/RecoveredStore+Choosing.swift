import Bytes

// Which versions of entries are listed, and under which ids.
extension RecoveredStore {
  /// Keeps the newest version of each entry that the cache does not have.
  func keepNewest() {
    var newest: [ByteString: Int] = [:]
    for (index, entry) in entries.enumerated() where !entry.fact.isOlderVersion {
      guard let key = entry.key else { continue }
      if let other = newest[key], !Self.isNewer(entry, than: entries[other]) { continue }
      newest[key] = index
    }
    let kept = Set(newest.values)
    entries = entries.indices.filter {
      kept.contains($0) || (entries[$0].key == nil && !entries[$0].fact.isOlderVersion)
    }
    .map { entries[$0] }
  }

  private static func isNewer(_ one: Entry, than other: Entry) -> Bool {
    // An entry of which more than the URL is left is worth more than a newer one of which it is not.
    let (isURL, isOtherURL) = (one.rows.blob == nil, other.rows.blob == nil)
    if isURL != isOtherURL { return isOtherURL }
    let (first, second) = (one.fact.confidence == .complete, other.fact.confidence == .complete)
    if one.stored != other.stored { return one.stored > other.stored }
    if first != second { return first }
    return (one.to, one.fact.entryID ?? 0) > (other.to, other.fact.entryID ?? 0)
  }

  /// Gives each entry a number of its own.
  func number() {
    entries.sort { one, other in
      let (first, second) = (one.fact.entryID ?? .max, other.fact.entryID ?? .max)
      if first != second { return first < second }
      if one.stored != other.stored { return one.stored > other.stored }
      if one.to != other.to { return one.to > other.to }
      return (one.fact.place.file.rawValue, one.fact.place.offset)
        < (other.fact.place.file.rawValue, other.fact.place.offset)
    }
    let highest = entries.lazy.compactMap(\.fact.entryID).max() ?? 0
    var next = highest < .max - Int64(entries.count) - 1 ? highest + 1 : 1
    var last: Int64?
    for index in entries.indices {
      if let id = entries[index].fact.entryID, id != last, highest < next {
        entries[index].fact.id = .row(id)
        last = id
      } else {
        entries[index].fact.id = .row(next)
        next += 1
      }
    }
    entries.sort { $0.fact.id < $1.fact.id }
    for (index, entry) in entries.enumerated() {
      if case .row(let number) = entry.fact.id { places[number] = index }
    }
  }
}
