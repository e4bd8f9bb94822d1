import Administration
import ArgumentParser
import Bytes

/// A bound for the time when an entry was stored: a time, or a duration before now.
enum TimeBound {
  /// A time.
  case time(WrittenTime)
  /// A duration before now, in seconds.
  case ago(Double)

  /// Parses a time or a duration.
  init(parsing text: String) throws {
    if let seconds = try? WrittenValue.duration(text) {
      self = .ago(seconds)
    } else {
      self = .time(try parseTime(text))
    }
  }

  /// Returns the time of the bound.
  func resolved(at now: Timestamp) -> WrittenTime {
    switch self {
    case .time(let time): time
    case .ago(let seconds): WrittenTime(seconds, before: now)
    }
  }
}
