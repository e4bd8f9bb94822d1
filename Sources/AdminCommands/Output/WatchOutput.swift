import Bytes
import Files
import Rendering
import ResponseStorage
import Watching

/// What a watch writes: a line or an object for each change, and a summary.
final class WatchOutput {
  private let settings: WatchRun.Settings
  private let environment: CommandEnvironment
  private let start: Int64
  private var output: OutputBuffer
  private var renderer: WatchRenderer?
  private var line: WatchStatusLine
  /// When the last change was seen, in milliseconds since the beginning; `nil` if there was none.
  private(set) var lastChange: Int64?
  /// Whether the entry that is waited for was stored.
  private(set) var hasComeTrue = false

  init(_ settings: WatchRun.Settings, in environment: CommandEnvironment) {
    (self.settings, self.environment) = (settings, environment)
    start = environment.steadyMilliseconds()
    output = OutputBuffer(environment)
    line = WatchStatusLine(isShown: settings.hasStatusLine, in: environment)
  }

  /// The time since the beginning, in milliseconds.
  var elapsed: Int64 { environment.steadyMilliseconds() - start }

  /// The present moment.
  var moment: WatchRenderer.Moment {
    let elapsed = elapsed
    // By the monotonic clock, so that a clock that is set does not reorder events.
    let time = Timestamp(
      secondsSince1970: environment.now.secondsSince1970 + Double(elapsed) / 1_000)
    let present = time ?? environment.now
    // What happens now has its own time, even if ages are relative to another.
    return .init(
      present, evaluation: settings.fixedTime ?? present, milliseconds: elapsed)
  }

  /// Whether the watch has begun.
  var hasBegun: Bool { renderer != nil }

  /// Begins with the first look.
  func begin(with store: StoreDescription, entries: Int64) throws {
    for note in store.notes { environment.note(note) }
    let renderer = WatchRenderer(
      secrets: settings.secrets, expiryRules: settings.expiryRules, store: store)
    self.renderer = renderer
    if settings.isTable {
      environment.inform(
        "watching '\(printable(settings.path))'"
          + " (\(QuantityWords.counted(entries, "entry", "entries")));"
          + " press Control-C to stop\n")
      renderer.appendHeading(into: &output.text)
    } else {
      renderer.appendBegin(store, entries: entries, at: moment, into: &output.text)
    }
    try flush()
  }

  /// Reports a change.
  func report(_ change: EntryChange) throws {
    let moment = moment
    lastChange = moment.milliseconds
    line.count(1, at: environment.steadyMilliseconds())
    if change.isAwaited { hasComeTrue = true }
    guard let renderer else { return }
    if settings.isTable {
      // The window may have another width by now.
      let width = environment.isOutputTerminal ? environment.messageWidth() : nil
      renderer.append(
        change, at: moment, width: width ?? environment.terminalWidth, into: &output.text)
    } else {
      renderer.appendJSON(change, at: moment, into: &output.text)
    }
    if output.text.bytes.count >= 1 << 16 { try flush() }
  }

  /// Reports that the cache as a whole has changed.
  func report(event: String, _ words: String) throws {
    if settings.isTable {
      line.remove()
      environment.note(words)
    } else {
      renderer?.appendJSON(event: event, at: moment, into: &output.text)
    }
    try flush()
  }

  /// Writes what was reported.
  func flush() throws {
    guard !output.text.bytes.isEmpty else { return }
    line.remove()
    try output.flush()
  }

  /// Shows the state in the last line of a terminal.
  func draw(_ tally: ChangeTally) { line.draw(tally, after: elapsed) }

  /// Removes the state from the last line of a terminal.
  func removeLine() { line.remove() }

  /// Reports what was seen until the end.
  func finish(_ summary: WatchSummary) throws {
    line.remove()
    if settings.isTable {
      for line in WatchRenderer.summary(summary) { environment.inform(line + "\n") }
    } else if let renderer {
      renderer.append(summary, at: moment, into: &output.text)
    }
    try flush()
  }
}
