import Administration
import Bytes
import Matching
import ResponseStorage

/// What was found in some entries, and what was not searched.
struct GrepTally: Sendable {
  /// The number of entries that were not searched to their end and are named.
  static let mostNamed = 10

  private(set) var total = EntrySearch.Outcome()
  /// The number of entries searched, and of those with a match.
  private(set) var (entries, found): (Int64, Int64) = (0, 0)
  /// The number of bodies that were not searched, because they are no text or are missing.
  private(set) var (binary, missing) = (0, 0)
  /// The number of bodies that were not searched, by their content coding.
  private(set) var coded: [String: Int] = [:]
  /// The number of entries that were not searched to their end.
  private(set) var incomplete = 0
  /// The first of these entries, with the reasons.
  private(set) var reasons: [String] = []

  /// Counts the search of an entry.
  mutating func count(_ outcome: EntrySearch.Outcome, of id: StoredResponse.ID) {
    entries += 1
    if outcome.lines > 0 { found += 1 }
    add(outcome)
    switch outcome.finding {
    case nil: break
    case .binary: binary += 1
    case .missing: missing += 1
    case .coded(let coding): coded[coding, default: 0] += 1
    case .undecodable(let error): note("\(error)", of: id)
    case .overrun(let place, let overrun):
      let need =
        switch overrun.limit {
        case .steps: "takes too many steps"
        case .memory: "needs too much memory"
        }
      note(
        "the expression \(need) on a line of \(overrun.textLength) bytes in \(place.rawValue)",
        of: id)
    }
  }

  /// Adds the counts of other entries.
  mutating func add(_ other: GrepTally) {
    entries += other.entries
    found += other.found
    add(other.total)
    binary += other.binary
    missing += other.missing
    coded.merge(other.coded, uniquingKeysWith: +)
    incomplete += other.incomplete
    reasons += other.reasons.prefix(Self.mostNamed - reasons.count)
  }

  private mutating func add(_ outcome: EntrySearch.Outcome) {
    total.lines += outcome.lines
    total.matches += outcome.matches
    total.bytes += outcome.bytes
  }

  private mutating func note(_ reason: String, of id: StoredResponse.ID) {
    incomplete += 1
    guard reasons.count < Self.mostNamed else { return }
    reasons.append("entry \(id.text) was not searched completely: \(reason)")
  }
}

extension StoredResponse.ID {
  /// The id, safe to print.
  fileprivate var text: String {
    switch self {
    case .row(let row): "\(row)"
    case .file(let name): EntryNames.text(name)
    }
  }
}
