import Administration
import Bytes
import Matching
import Rendering
import ResponseArchives
import ResponseStorage

/// The search of all selected entries, and what it has written.
struct GrepRun {
  private let search: EntrySearch
  private let format: GrepFormat
  private var renderer: GrepRenderer
  private let environment: CommandEnvironment
  private var output: OutputBuffer

  private var total = EntrySearch.Outcome()
  /// The number of entries searched, and of those with a match.
  private var (entries, found): (Int64, Int64) = (0, 0)
  /// The number of bodies that were not searched.
  private var (binary, missing) = (0, 0)
  /// The number of entries that were not searched to their end.
  private var incomplete = 0

  /// The number of entries that were not searched to their end and are named.
  private static let mostNamed = 10

  init(
    search: EntrySearch, format: GrepFormat, renderer: GrepRenderer,
    in environment: CommandEnvironment
  ) {
    (self.search, self.format, self.renderer) = (search, format, renderer)
    self.environment = environment
    output = OutputBuffer(environment)
  }

  /// The exit status for what was found.
  var status: ExitStatus { found == 0 ? .no : incomplete > 0 ? .partly : .done }

  /// Searches an entry, and writes what is found.
  mutating func search(_ response: borrowing StoredResponse, _ body: ScannedBody) throws {
    let entry = GrepRenderer.Entry(id: response.id, url: response.url ?? response.key)
    renderer.beginEntry()
    var hasBegun = false
    let isJSON = format == .json
    let outcome = try search.search(response, body) { hit in
      if isJSON {
        if !hasBegun { renderer.appendBegin(entry, into: &output.text) }
        hasBegun = true
        renderer.appendJSON(hit, of: entry, into: &output.text)
      } else {
        renderer.append(hit, of: entry, into: &output.text)
      }
      try output.flushIfLarge()
    }
    if isJSON {
      if hasBegun { renderer.appendEnd(outcome, of: entry, into: &output.text) }
    } else {
      renderer.append(outcome, of: entry, into: &output.text)
    }
    count(outcome, of: entry)
    // A reader such as `head` sees the first matches at once.
    if hasBegun || outcome.lines > 0 { try output.flushIfLarge() }
  }

  private mutating func count(_ outcome: EntrySearch.Outcome, of entry: GrepRenderer.Entry) {
    entries += 1
    if outcome.lines > 0 { found += 1 }
    total.lines += outcome.lines
    total.matches += outcome.matches
    total.bytes += outcome.bytes
    switch outcome.finding {
    case nil: break
    case .binary: binary += 1
    case .missing: missing += 1
    case .undecodable(let error): report("\(error)", entry)
    case .overrun(let place, let overrun):
      let need =
        switch overrun.limit {
        case .steps: "takes too many steps"
        case .memory: "needs too much memory"
        }
      report(
        "the expression \(need) on a line of \(overrun.textLength) bytes in \(place.rawValue)",
        entry)
    }
  }

  /// Reports why an entry was not searched to its end.
  private mutating func report(_ reason: String, _ entry: GrepRenderer.Entry) {
    incomplete += 1
    guard incomplete <= Self.mostNamed else { return }
    environment.note("entry \(entry.id.text) was not searched completely: \(reason)")
  }

  /// Writes what is left, and reports what was not searched.
  mutating func finish() throws {
    if format == .json {
      renderer.appendSummary(total, entries: entries, found: found, into: &output.text)
    }
    try output.flush()
    if incomplete > Self.mostNamed {
      environment.note("entries that were not searched completely: \(incomplete)")
    }
    if binary > 0 {
      environment.note(
        "not searched, because they are not text: \(binary); search them with '--binary'")
    }
    if missing > 0 { environment.note("not searched, because the body is missing: \(missing)") }
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
