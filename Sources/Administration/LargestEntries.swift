import ResponseStorage

/// The entries with the largest bodies; of equal ones those that came first.
struct LargestEntries {
  /// An entry, of which all else can be looked up.
  struct Candidate {
    let id: StoredResponse.ID
    let size: Int64
    let state: CacheReport.State
  }

  /// The entries, the largest first.
  private(set) var candidates: [Candidate] = []

  /// Takes an entry in, if it is among the largest.
  ///
  /// - Parameter limit: How many entries are kept.
  mutating func insert(
    _ id: borrowing StoredResponse.ID, size: Int64, _ state: CacheReport.State, limit: Int
  ) {
    if candidates.count >= limit {
      guard let last = candidates.last, size > last.size else { return }
      candidates.removeLast()
    }
    let place = candidates.firstIndex { $0.size < size } ?? candidates.count
    candidates.insert(.init(id: copy id, size: size, state: state), at: place)
  }
}
