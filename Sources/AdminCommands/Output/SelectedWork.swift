import Administration
import Bytes
import ResponseStorage

/// Work on the entries that a selection without names selects, with counts of all entries.
struct SelectedWork<Work: EntryWork>: EntryWork {
  /// The counts of some entries, and the end of the work on them.
  struct Summary: Sendable {
    var counts = SelectionCounts()
    let work: Work.Summary
  }

  private var work: Work
  private let selection: Selection
  private let now: Timestamp
  private var counts = SelectionCounts()

  init(_ work: Work, on selection: Selection, at now: Timestamp) {
    (self.work, self.selection, self.now) = (work, selection, now)
  }

  mutating func process(
    _ response: borrowing StoredResponse, _ body: ScannedBody,
    _ send: (Work.Part, Int) throws -> Void
  ) throws {
    counts.seen += 1
    switch try selection.decision(for: response, now: now) {
    case .selected:
      counts.selected += 1
      try work.process(response, body, send)
    case .unknownTime: counts.unknownTimes += 1
    case .unknownFreshness: counts.unknownFreshness += 1
    case .notNamed, .notSelected, .tooYoung: break
    }
  }

  mutating func endBatch(_ send: (Work.Part, Int) throws -> Void) throws -> Summary {
    defer { counts = SelectionCounts() }
    return Summary(counts: counts, work: try work.endBatch(send))
  }
}

/// How many entries were scanned, and how many of them were selected.
struct SelectionCounts: Sendable {
  var (seen, selected): (Int64, Int64) = (0, 0)
  /// The numbers of entries that were not selected because something is unknown.
  var (unknownTimes, unknownFreshness) = (0, 0)
}
