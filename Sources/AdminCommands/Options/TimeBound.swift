import Administration
import ArgumentParser
import Bytes

/// A bound for the time when an entry was stored: a time, or a duration before now.
enum TimeBound {
  /// A time.
  case time(WrittenTime)
  /// A duration before now, in seconds.
  case ago(Double)
  /// The midnight at which `today` or `yesterday` began.
  case day(String)

  /// Parses a time or a duration.
  init(parsing text: String) throws {
    if ["today", "yesterday"].contains(text) {
      self = .day(text)
    } else if let seconds = try? WrittenValue.duration(text) {
      self = .ago(seconds)
    } else {
      self = .time(try parseTime(text))
    }
  }

  /// Returns the time of the bound.
  func resolved(at now: Timestamp) throws(CommandFailure) -> WrittenTime {
    switch self {
    case .time(let time): return time
    case .ago(let seconds): return WrittenTime(seconds, before: now)
    case .day(let word):
      do throws(WrittenValueError) { return try WrittenTime(day: word, at: now) } catch {
        throw .usage("'\(word)' \(error.reason)", hint: error.hint)
      }
    }
  }
}
