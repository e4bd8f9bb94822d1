import Bytes
import ResponseStorage

/// The entries with the largest bodies; of equal sizes, those with the smallest ids.
struct LargestEntries {
  /// An entry; its details can be looked up by id.
  struct Candidate {
    let id: StoredResponse.ID
    let size: ByteCount
    let state: CacheReport.State
  }

  /// The entries, largest first.
  private(set) var candidates: [Candidate] = []

  /// Adds an entry if it is among the largest.
  ///
  /// - Parameter limit: The maximum number of entries.
  mutating func insert(
    _ id: borrowing StoredResponse.ID, size: ByteCount, _ state: CacheReport.State, limit: Int
  ) {
    if candidates.count >= limit {
      // Ids decide between equal sizes, because threads deliver entries in any order, and two
      // reports of the same cache must be equal.
      guard let last = candidates.last, size >= last.size,
        size > last.size || id < last.id
      else { return }
      candidates.removeLast()
    }
    let place =
      candidates.firstIndex { $0.size < size || $0.size == size && id < $0.id } ?? candidates.count
    candidates.insert(.init(id: copy id, size: size, state: state), at: place)
  }

  /// Adds the largest of other entries.
  mutating func insert(_ others: LargestEntries, limit: Int) {
    for other in others.candidates {
      insert(other.id, size: other.size, other.state, limit: limit)
    }
  }
}

extension CacheReport.Entry {
  /// Creates an entry without details.
  init(_ candidate: LargestEntries.Candidate) {
    self.init(id: candidate.id, size: candidate.size, state: candidate.state)
  }
}
