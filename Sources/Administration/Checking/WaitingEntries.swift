import Bytes
import ResponseStorage

/// The findings on entries that were read while a store is searched for damage, which is reported first.
struct WaitingEntries {
  private(set) var checked: [CheckTally.Checked] = []
  /// The length of the URLs, which the findings keep in memory.
  private var urlBytes = 0

  /// Whether there are so many findings that the others should wait for the search: a cache can have any number.
  var isFull: Bool { checked.count >= 1 << 13 || urlBytes >= 4 << 20 }

  /// Appends the findings of a tally.
  mutating func append(_ tally: borrowing CheckTally) {
    for response in tally.checked {
      urlBytes += (response.byRule ?? response.findings.first)?.url?.bytes.count ?? 0
      checked.append(response)
    }
  }
}
