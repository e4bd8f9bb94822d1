internal import CSQLite
import Files

/// The tries of something that another process prevents, over a limited time.
public struct LockWait {
  private let end: Int64
  private var tries = 0

  /// Begins the first try.
  ///
  /// - Parameter milliseconds: How long to try.
  public init(milliseconds: Int32) {
    end = LocalTime.steadyMilliseconds() + Int64(milliseconds)
  }

  /// Pauses before the next try. Nothing may be locked meanwhile.
  ///
  /// - Returns: `false` if the time is over, or if a held signal waits.
  public mutating func pause() -> Bool {
    let rest = end - LocalTime.steadyMilliseconds()
    guard rest > 0, !HeldSignals.areWaiting else { return false }
    CurrentProcess.sleep(milliseconds: min(Int(rest), Connection.pause(tries)))
    tries += 1
    return true
  }
}

extension Connection {
  /// The longest pause between two tries, in milliseconds: a held signal ends the wait after it at the latest.
  private static let longestPause = 100

  /// Waits for locks of other processes, up to this many milliseconds in total.
  ///
  /// This is like `sqlite3_busy_timeout`, except that a held signal ends the wait before the lock is free.
  public borrowing func wait(milliseconds: Int32) {
    unsafe Self.wait(milliseconds: milliseconds, handle)
  }

  /// Lets a connection that is being opened wait, as above.
  static func wait(milliseconds: Int32, _ handle: OpaquePointer) {
    // SQLite passes the number of tries and one pointer, which here is the maximal number of pauses.
    let pauses = unsafe UnsafeMutableRawPointer(bitPattern: pauseCount(of: milliseconds))
    unsafe sqlite3_busy_handler(
      handle,
      { limit, count in
        let pauses = Int(bitPattern: limit)
        // SQLite does not queue for a lock, it tries again. So this is called before each further
        // try.
        guard Int(count) < pauses, !HeldSignals.areWaiting else { return 0 }
        CurrentProcess.sleep(milliseconds: Connection.pause(Int(count)))
        return 1
      }, pauses)
  }

  /// Returns the pause after this many tries, in milliseconds: short at first, as most locks are brief.
  fileprivate static func pause(_ count: Int) -> Int { min(count + 1, 20) * 5 }

  /// Returns how many pauses fit into this time.
  private static func pauseCount(of milliseconds: Int32) -> Int {
    var (count, rest) = (0, Int(milliseconds))
    // From the 20th pause on, all have the longest duration.
    while rest > 0, count < 20 {
      rest -= pause(count)
      count += 1
    }
    return count + max(0, rest) / longestPause
  }
}
