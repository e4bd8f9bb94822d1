import Rendering

/// A line with the progress, on a terminal only.
final class ProgressLine {
  private static let millisecondsBetween: Int64 = 100

  private let total: Int
  private let environment: CommandEnvironment
  private var shownAt: Int64?

  /// Creates a line that is not visible yet.
  init(of total: Int, _ environment: CommandEnvironment) {
    self.total = total
    self.environment = environment
  }

  /// Shows the progress, at most every 100 ms.
  func show(_ done: Int) {
    // In a file or a journal, every carriage return would be one more line of noise.
    guard environment.isMessageTerminal else { return }
    let now = environment.steadyMilliseconds()
    if let shownAt, now - shownAt < Self.millisecondsBetween { return }
    shownAt = now
    // The sequence clears the rest of the line, where a longer text may have been.
    environment.inform("\r\(done) of \(total) responses\u{1B}[K")
  }

  /// Removes the line.
  func clear() {
    if shownAt != nil { environment.writeMessage("\r\u{1B}[K") }
    shownAt = nil
  }
}
