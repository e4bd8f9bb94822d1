import Files
import JSON

/// Shows the progress of work that takes long, on standard error.
///
/// The work only adds to ``WorkCounter``. A thread of this type reads the counter and the clock ten times a second, so
/// that the work does not become slower.
public final class ProgressDisplay: Sendable {
  /// The time after which work counts as long, in milliseconds.
  private static let patience = 500
  private static let millisecondsBetweenLines = 100
  private static let millisecondsBetweenObjects = 1_000

  /// What is shown, which the working thread and the showing thread share.
  private struct Shown: Sendable {
    /// The work that is going on; `nil` if there is none.
    var work: (state: ProgressState, counted: Int64, start: Int64)?
    /// The number of works so far, by which a thread knows whether its work is still going on.
    var number = 0
    /// Whether the terminal shows a line.
    var isVisible = false
    /// Whether the cursor is at the beginning of a line, so that a line can be shown.
    var isAtLineStart = true
  }

  private let mode: ProgressMode
  private let isTerminal: Bool
  private let width: @Sendable () -> Int?
  private let isASCII: Bool
  private let milliseconds: @Sendable () -> Int64
  private let write: @Sendable ([UInt8]) -> Void
  private let shown = Monitor(Shown())

  /// Creates a display; `nil` if progress is not shown.
  ///
  /// - Parameters:
  ///   - mode: When and how progress is shown.
  ///   - isTerminal: Whether standard error is a terminal.
  ///   - width: Returns the current width of the terminal, in columns.
  ///   - isASCII: Whether bars are drawn in ASCII.
  ///   - milliseconds: Returns the time of a monotonic clock.
  ///   - write: Writes to standard error.
  public init?(
    _ mode: ProgressMode, isTerminal: Bool, width: @escaping @Sendable () -> Int?, isASCII: Bool,
    milliseconds: @escaping @Sendable () -> Int64, write: @escaping @Sendable ([UInt8]) -> Void
  ) {
    guard mode != .never, mode != .auto || isTerminal else { return nil }
    self.mode = mode
    self.isTerminal = isTerminal
    self.width = width
    self.isASCII = isASCII
    self.milliseconds = milliseconds
    self.write = write
  }

  /// Does work, and shows its progress.
  ///
  /// - Parameters:
  ///   - label: What is done, as "Removing entries".
  ///   - total: The number of pieces of work; `nil` if it is unknown.
  ///   - unit: The pieces of work.
  public func show<Result>(
    _ label: String, of total: Int64?, unit: String, _ work: () throws -> Result
  ) rethrows -> Result {
    let number = begin(ProgressState(label: label, unit: unit, total: total))
    defer { end() }
    BackgroundThread.start("ProgressDisplay") { [self] in
      if mode == .auto { CurrentProcess.sleep(milliseconds: Self.patience) }
      let pause = mode == .json ? Self.millisecondsBetweenObjects : Self.millisecondsBetweenLines
      while draw(number) { CurrentProcess.sleep(milliseconds: pause) }
    }
    return try work()
  }

  /// Writes something else to the terminal that shows the progress.
  ///
  /// - Parameter last: The last byte that `body` writes.
  public func interrupt<Result>(by last: UInt8?, _ body: () throws -> Result) rethrows -> Result {
    // The thread does not draw while there is no work, so what is written cannot mix with a line.
    let pausedWork = shown.withLock { shown in
      clear(&shown)
      defer { shown.work = nil }
      if let last { shown.isAtLineStart = last == UInt8(ascii: "\n") }
      return shown.work
    }
    defer { shown.withLock { $0.work = pausedWork } }
    return try body()
  }

  /// Notes that the user has ended the line of a question.
  public func noteLineEnd() { shown.withLock { $0.isAtLineStart = true } }

  private func begin(_ state: ProgressState) -> Int {
    shown.withLock { shown in
      shown.number += 1
      shown.work = (state, WorkCounter.value, milliseconds())
      // Short work is over before the thread begins, and a program that asked for progress shall see all of it.
      if mode != .auto { draw(&shown, isFinished: false) }
      return shown.number
    }
  }

  private func end() {
    shown.withLock { shown in
      if mode == .json { draw(&shown, isFinished: true) }
      if mode == .always, !isTerminal { draw(&shown, isFinished: false) }
      clear(&shown)
      shown.work = nil
      shown.number += 1
    }
  }

  /// Draws a line from the thread.
  ///
  /// - Returns: Whether the work with this number is going on.
  private func draw(_ number: Int) -> Bool {
    shown.withLock { shown in
      guard shown.number == number else { return false }
      draw(&shown, isFinished: false)
      return true
    }
  }

  private func draw(_ shown: inout Shown, isFinished: Bool) {
    guard let work = shown.work, shown.isAtLineStart else { return }
    var state = work.state
    state.done = WorkCounter.value - work.counted
    state.milliseconds = milliseconds() - work.start
    guard mode != .json else { return write(state.json(isFinished: isFinished)) }
    // The terminal shows "^C" behind the line. Without room for it, the cursor would be in the next
    // line when this one is removed.
    let line = state.line(width: (width() ?? 80) - 3, isASCII: isASCII)
    if !shown.isVisible, isTerminal { TransientLine.begin() }
    TransientLine.draw {
      shown.isVisible = true
      write(Self.removal + Array(line.utf8))
    }
  }

  private static let removal = Array("\(TransientLine.removal)".utf8)

  private func clear(_ shown: inout Shown) {
    guard shown.isVisible else { return }
    shown.isVisible = false
    guard isTerminal else { return write([UInt8(ascii: "\n")]) }
    write(Self.removal)
    TransientLine.end()
  }
}

/// When and how progress is shown.
public enum ProgressMode: String, Hashable, Sendable, CaseIterable {
  /// On a terminal, once the work takes long.
  case auto
  /// From the beginning, and not only on a terminal.
  case always
  /// Not at all.
  case never
  /// As lines of JSON, for programs.
  case json
}

/// How far some work is, at one moment.
struct ProgressState: Hashable, Sendable {
  /// What is done, as "Removing entries".
  var label: String
  /// The pieces of work.
  var unit: String
  /// The number of pieces that are done.
  var done: Int64 = 0
  /// The number of all pieces; `nil` if it is unknown.
  var total: Int64?
  /// How long the work has taken so far, in milliseconds.
  var milliseconds: Int64 = 0

  private static let barWidth = 20

  /// The number of pieces done in a second, on average; `nil` at the beginning.
  private var rate: Double? {
    guard done > 0, milliseconds > 0 else { return nil }
    return Double(done) * 1_000 / Double(milliseconds)
  }

  /// Whether all pieces are done, while the work goes on.
  private var isFinishing: Bool { total.map { $0 > 0 && done >= $0 } ?? false }

  /// The number of seconds until the work is done, at the average rate; `nil` if it cannot be known.
  private var secondsLeft: Double? {
    guard let total, let rate, total >= done, done > 0 else { return nil }
    // A rate can be tiny, and a larger number would trap in a conversion.
    return min((Double(total - done) / rate).rounded(.up), 1e9)
  }

  /// Returns a line for people of at most `width` columns. All characters are one column wide.
  func line(width: Int, isASCII: Bool) -> String {
    let done = max(done, 0)
    var parts: [String] = []
    if let total, total > 0 {
      let share = min(Double(done) / Double(total), 1)
      let filled = Int(share * Double(Self.barWidth))
      let (mark, rest) = isASCII ? ("#", ".") : ("█", "░")
      parts.append(
        String(repeating: mark, count: filled)
          + String(repeating: rest, count: Self.barWidth - filled))
      if isFinishing {
        // All pieces are done, but the result is not on disk yet.
        parts.append("\(Self.grouped(total)) \(unit)")
        parts.append("finishing")
      } else {
        parts.append("\(min(Int(share * 100), 99))%")
        parts.append("\(Self.grouped(done)) of \(Self.grouped(total)) \(unit)")
      }
    } else if done > 0 {
      parts.append("\(Self.grouped(done)) \(unit)")
    }
    if let rate, !isFinishing {
      parts.append("\(Self.grouped(Int64(min(rate.rounded(), 1e15))))/s")
    }
    if let secondsLeft, !isFinishing {
      parts.append("\(Self.time(Int64(secondsLeft))) left")
    } else {
      parts.append(Self.time(milliseconds / 1_000))
    }
    // On a narrow terminal, leave out what comes last.
    var line = label
    for part in parts where line.unicodeScalars.count + part.unicodeScalars.count + 2 <= width {
      line += "  \(part)"
    }
    return line.unicodeScalars.count > width ? "" : line
  }

  /// Returns a line for programs.
  ///
  /// - Parameter isFinished: Whether the work is done.
  func json(isFinished: Bool) -> [UInt8] {
    JSONWriter.bytes(.ascii) { json in
      json.object {
        $0.member("schema", "urlcache-admin.progress/1")
        $0.member("label", label)
        $0.member("unit", unit)
        $0.member("done", done)
        $0.member("total", total)
        $0.member("elapsed_seconds", Double(milliseconds) / 1_000)
        $0.member("remaining_seconds", isFinished ? 0 : secondsLeft)
        $0.member("finished", isFinished)
      }
      json.endLine()
    }
  }

  /// Returns a number with commas: `43,210`.
  private static func grouped(_ number: Int64) -> String {
    let digits = Array("\(number)".utf8)
    var text: [UInt8] = []
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { text.append(UInt8(ascii: ",")) }
      text.append(digit)
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns a time span: `75 s`, `12 min` or `3 h`.
  private static func time(_ seconds: Int64) -> String {
    switch seconds {
    case ..<100: "\(seconds) s"
    case ..<6_000: "\((seconds + 30) / 60) min"
    default: "\((seconds + 1_800) / 3_600) h"
    }
  }
}
