import ResponseArchives
public import ResponseStorage

/// A set of ids of entries in little memory: at most 16 bytes for an id, and two bits where ids are dense.
public struct EntryIDSet: Sendable {
  /// 64 consecutive row ids.
  private struct Word {
    /// The first id, divided by 64.
    let place: Int64
    /// A bit for each id, the first id in the lowest one.
    var bits: UInt64
  }

  private var words: [Word] = []
  /// The digests of file names.
  private var names: [TextDigest] = []

  /// Creates an empty set.
  public init() {}

  /// Adds an id. Ids must be added in ascending order, and ``finish()`` called after the last.
  public mutating func append(_ id: StoredResponse.ID) {
    switch id {
    case .row(let row):
      let bit = UInt64(1) << UInt64(truncatingIfNeeded: row & 63)
      if words.last?.place == row >> 6 {
        words[words.count - 1].bits |= bit
      } else {
        words.append(Word(place: row >> 6, bits: bit))
      }
    case .file(let name): names.append(TextDigest(name))
    }
  }

  /// Makes the set ready for lookups.
  public mutating func finish() { names.sort { $0.precedes($1) } }

  /// Whether the set has an id.
  ///
  /// - Complexity: O(log *n*), where *n* is the number of ids.
  public func contains(_ id: StoredResponse.ID) -> Bool {
    switch id {
    case .row(let row):
      let index = words.partitioningIndex { $0.place >= row >> 6 }
      guard index < words.count, words[index].place == row >> 6 else { return false }
      return words[index].bits >> UInt64(truncatingIfNeeded: row & 63) & 1 == 1
    case .file(let name):
      if names.isEmpty { return false }
      let digest = TextDigest(name)
      let index = names.partitioningIndex { !$0.precedes(digest) }
      return index < names.count && names[index] == digest
    }
  }
}

extension Array {
  /// Returns the index of the first element for which a condition holds, in an array in which it holds for all after that.
  fileprivate func partitioningIndex(where holds: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = low + (high - low) / 2
      if holds(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
