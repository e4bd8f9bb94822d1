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
      try listing.work(
        on: source, projection, batches, until: { [search] in search.isBinary($0, of: $1) }, take)
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
      let entries = tally.entries == 1 ? "1 entry" : "\(tally.entries) entries"
      environment.note("no match in \(entries)")
    }
    reportGaps()
  }

  private func take(_ result: EntryBatches<EntryGrep>.Result) throws {
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
        "bodies not searched because they are not text: \(tally.binary); search them with '--binary'"
      )
    }
    for (coding, count) in tally.coded.sorted(by: { $0.key < $1.key }) {
      environment.note("bodies not searched because they are compressed with \(coding): \(count)")
    }
    if tally.missing > 0 {
      environment.note("bodies not searched because they are missing: \(tally.missing)")
    }
  }
}
