import Files
import Rendering
import Watching

/// The line at the bottom of a terminal that shows what a watch has seen so far.
struct WatchStatusLine {
  private let environment: CommandEnvironment
  private let isShown: Bool
  private var isVisible = false
  private var rate = ChangeRate()
  /// When the line was drawn, and what it showed.
  private var drawn: (second: Int64, changes: Int64) = (-1, -1)

  init(isShown: Bool, in environment: CommandEnvironment) {
    self.environment = environment
    self.isShown = isShown && environment.isMessageTerminal && !environment.isQuiet
  }

  /// Counts changes, for the rate.
  mutating func count(_ changes: Int64, at milliseconds: Int64) {
    rate.insert(changes, atMilliseconds: milliseconds)
  }

  /// Draws the line, if it would show something else than before.
  mutating func draw(_ tally: ChangeTally, after milliseconds: Int64) {
    guard isShown else { return }
    let state = (second: milliseconds / 1_000, changes: tally.all)
    guard !isVisible || state != drawn else { return }
    drawn = state
    let text = WatchRenderer.status(
      tally, changes: rate.changes(atMilliseconds: environment.steadyMilliseconds()),
      // The terminal shows "^C" behind the line.
      after: state.second, width: max(10, (environment.messageWidth() ?? 80) - 3),
      style: environment.messageStyle)
    environment.writeMessage("\(TransientLine.removal)" + String(decoding: text, as: UTF8.self))
    isVisible = true
  }

  /// Removes the line.
  mutating func remove() {
    guard isVisible else { return }
    isVisible = false
    environment.writeMessage("\(TransientLine.removal)")
  }
}
