internal import CSQLite
import Files

extension Connection {
  /// How long each wait between two tries is at most, in milliseconds: a signal ends the waiting so soon.
  private static let longestPause = 100

  /// Waits for the locks of other processes, for some milliseconds in all.
  ///
  /// It is as `sqlite3_busy_timeout`, but for a signal that is held back: that one does not wait until the lock is free.
  borrowing func wait(milliseconds: Int32) {
    // SQLite hands over how often it has asked, and what it was told to: here how often it may.
    let pauses = unsafe UnsafeMutableRawPointer(bitPattern: Self.pauseCount(of: milliseconds))
    unsafe sqlite3_busy_handler(
      handle,
      { limit, count in
        let pauses = Int(bitPattern: limit)
        guard Int(count) < pauses, !HeldSignals.areWaiting else { return 0 }
        CurrentProcess.sleep(milliseconds: Connection.pause(Int(count)))
        return 1
      }, pauses)
  }

  /// The pause after so many tries, in milliseconds: short at first, as most locks are held for a moment.
  private static func pause(_ count: Int) -> Int { min(count + 1, 20) * 5 }

  /// How many pauses take as long as that, and no longer.
  private static func pauseCount(of milliseconds: Int32) -> Int {
    var (count, rest) = (0, Int(milliseconds))
    while rest > 0, count < 20 {
      rest -= pause(count)
      count += 1
    }
    return count + max(0, rest) / longestPause
  }
}
