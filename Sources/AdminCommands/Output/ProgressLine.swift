import Rendering

/// A line on a terminal that says how far something is; nothing where messages go elsewhere.
final class ProgressLine {
  private static let millisecondsBetween: Int64 = 100

  private let total: Int
  private let environment: CommandEnvironment
  private var shownAt: Int64?

  /// Creates a line that is not shown yet.
  init(of total: Int, _ environment: CommandEnvironment) {
    self.total = total
    self.environment = environment
  }

  /// Says how much is done, unless it has just said so.
  func show(_ done: Int) {
    guard environment.isMessageTerminal else { return }
    let now = environment.steadyMilliseconds()
    if let shownAt, now - shownAt < Self.millisecondsBetween { return }
    shownAt = now
    environment.writeMessage("\r\(done) of \(total) answers\u{1B}[K")
  }

  /// Takes the line away.
  func clear() {
    if shownAt != nil { environment.writeMessage("\r\u{1B}[K") }
    shownAt = nil
  }
}
