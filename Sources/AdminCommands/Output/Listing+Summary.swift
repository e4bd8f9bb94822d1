import Administration
import Rendering
import ResponseStorage

extension Listing {
  /// The most entries that are counted for people. This takes a millisecond, and all of a million twenty, which is
  /// longer than reading a page of them.
  private static let mostCounted: Int64 = 20_000

  /// Returns the summary of the list.
  ///
  /// - Parameters:
  ///   - sorted: The number of selected entries if they were sorted, for which all were read.
  ///   - exact: Whether to count all entries of the store, however long that takes.
  mutating func summary(
    of source: any ResponseSource, sorted: Int64?, exact: Bool
  ) throws -> ListSummary {
    var summary = ListSummary(
      shown: shown, selected: sorted ?? shown, total: seen, bodyBytes: bodyBytes)
    var hasSeenAll = !wasStopped
    if sorted == nil, !selection.isEmpty, let all = try withoutLimit(in: source) {
      (summary.selected, summary.total, hasSeenAll) = (all.shown, all.seen, !all.wasStopped)
    }
    if !hasSeenAll {
      let most = max(Self.mostCounted, summary.selected)
      let count = try exact ? source.count() : source.count(upTo: most)
      summary.total = count ?? most
      summary.hasUncounted = count == nil
    }
    if selection.isEmpty { summary.selected = summary.total }
    return summary
  }
}

extension CommandEnvironment {
  /// Reports by which version marks entries are superseded, if any are.
  func note(_ kinds: SupersededKinds) {
    guard let words = kinds.words else { return }
    note("superseded entries, by how their versions were recognized: \(words)")
  }
}
