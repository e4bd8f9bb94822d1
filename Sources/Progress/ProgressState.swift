import JSON

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
