import Administration
import Bytes
import Files
import Matching
import Rendering
import ResponseArchives
import ResponseStorage

/// The search of all selected entries, and what it has written.
final class GrepRun {
  private let search: EntrySearch
  private let format: GrepFormat
  private let renderer: GrepRenderer
  private let environment: CommandEnvironment
  private let batches: EntryBatches<EntryGrep>
  private var output: OutputBuffer
  private var tally = GrepTally()
  private var hasOutput = false

  /// Creates a search.
  init(
    search: EntrySearch, format: GrepFormat, renderer: GrepRenderer,
    in environment: CommandEnvironment
  ) {
    (self.search, self.format, self.renderer) = (search, format, renderer)
    self.environment = environment
    output = OutputBuffer(environment)
    batches = EntryBatches(
      EntryGrep(search, format, renderer, style: environment.outputStyle),
      wantsBodies: search.parts.contains(.body))
  }

  /// The exit status for what was found.
  var status: ExitStatus { tally.found == 0 ? .no : tally.incomplete > 0 ? .partly : .done }

  /// Searches the selected entries, and writes what is found.
  func search(_ source: any ResponseSource, _ listing: inout Listing) throws {
    let projection = search.projection.union(listing.selection.projection)
    do {
      try listing.work(on: source, projection, batches, take)
    } catch {
      // What was found before the error is as good as without it.
      try? batches.finish(take)
      throw error
    }
  }

  /// Ends the search, and reports what was not searched.
  func finish() throws {
    if format == .json {
      renderer.appendSummary(
        tally.total, entries: tally.entries, found: tally.found, into: &output.text)
    }
    try output.flush()
    // People see that the search has ended; for scripts, the exit status says it.
    if tally.found == 0, environment.isMessageTerminal {
      environment.note("no match in \(QuantityWords.counted(tally.entries, "entry", "entries"))")
    }
    reportGaps()
  }

  private func take(_ result: EntryWorkResult<EntryGrep>) throws {
    switch result {
    case .part(let bytes): try write(bytes[...])
    case .summary(let tally): count(tally)
    }
  }

  private func write(_ bytes: ArraySlice<UInt8>) throws {
    var bytes = bytes
    // Each group of lines begins with a separator, as no thread knows what others have found before.
    if renderer.separatesGroups, format == .table, !hasOutput, !bytes.isEmpty {
      bytes = bytes.dropFirst(GrepRenderer.separator.utf8.count)
    }
    if !bytes.isEmpty { hasOutput = true }
    output.text.append(contentsOf: bytes)
    try output.flushIfLarge()
  }

  private func count(_ other: GrepTally) {
    let named = tally.reasons.count
    tally.add(other)
    for reason in tally.reasons[named...] { environment.note(reason) }
  }

  private func reportGaps() {
    if tally.incomplete > GrepTally.mostNamed {
      environment.note("entries that were not searched completely: \(tally.incomplete)")
    }
    if tally.binary > 0 {
      environment.note(
        "skipped \(QuantityWords.counted(tally.binary, "binary body", "binary bodies"));"
          + " search \(tally.binary == 1 ? "it" : "them") with '--binary'"
      )
    }
    for (coding, count) in tally.coded.sorted(by: { $0.key < $1.key }) {
      let bodies = QuantityWords.counted(count, "body", "bodies")
      environment.note("skipped \(bodies) compressed with \(coding)")
    }
    if tally.missing > 0 {
      environment.note(
        "skipped \(QuantityWords.counted(tally.missing, "missing body", "missing bodies"))")
    }
  }
}

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
    reasons.append("entry \(id.short) was not searched completely: \(reason)")
  }
}

/// Searches entries on one thread, and renders what is found.
struct EntryGrep: Sendable {
  private let search: EntrySearch
  private let format: GrepFormat
  private var renderer: GrepRenderer

  /// What was found and has not been taken.
  var text: TextBuffer
  /// The counts of the entries that were searched.
  var tally = GrepTally()

  /// The size of ``text`` above which it is passed on.
  private static let mostText = 1 << 16

  init(_ search: EntrySearch, _ format: GrepFormat, _ renderer: GrepRenderer, style: TextStyle) {
    (self.search, self.format, self.renderer) = (search, format, renderer)
    text = TextBuffer(style: style)
  }

  /// Searches an entry.
  ///
  /// - Parameter flush: Takes ``text`` whenever there is much of it.
  /// - Throws: The error of a store that cannot be read, or any error of `flush`.
  mutating func search(
    _ response: borrowing StoredResponse, _ body: ScannedBody,
    _ flush: (inout TextBuffer) throws -> Void
  ) throws {
    let entry = GrepRenderer.Entry(id: response.id, url: response.url ?? response.key)
    renderer.beginEntry()
    var hasBegun = false
    let isJSON = format == .json
    func flushIfLarge(_ text: inout TextBuffer) throws {
      if text.bytes.count >= Self.mostText { try flush(&text) }
    }
    let outcome = try search.search(response, body) { hit in
      if isJSON {
        if !hasBegun { renderer.appendBegin(entry, into: &text) }
        hasBegun = true
        renderer.appendJSON(hit, of: entry, into: &text)
        try flushIfLarge(&text)
      } else {
        try renderer.append(hit, of: entry, into: &text, flushIfLarge)
      }
    }
    if isJSON {
      if hasBegun { renderer.appendEnd(outcome, of: entry, into: &text) }
    } else {
      renderer.append(outcome, of: entry, into: &text)
    }
    tally.count(outcome, of: entry.id)
    try flushIfLarge(&text)
  }
}

extension EntryGrep: EntryWork {
  mutating func process(
    _ response: borrowing StoredResponse, _ body: ScannedBody,
    _ send: ([UInt8], Int) throws -> Void
  ) throws {
    try search(response, body) { try Self.take(&$0, send) }
  }

  mutating func endBatch(_ send: ([UInt8], Int) throws -> Void) throws -> GrepTally {
    if !text.bytes.isEmpty { try Self.take(&text, send) }
    defer { tally = GrepTally() }
    return tally
  }

  private static func take(
    _ text: inout TextBuffer, _ send: ([UInt8], Int) throws -> Void
  ) throws {
    let bytes = text.bytes
    text.removeAll()
    try send(bytes, bytes.count)
  }
}
