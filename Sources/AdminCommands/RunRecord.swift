import Administration
import ResponseStorage

/// What a command did to a cache, for metrics and logs.
final class RunRecord {
  /// What the cache is called: its name, or else its path.
  let cache: String
  /// The number of entries that were removed.
  private(set) var removedEntries: Int64 = 0
  /// The sizes of their bodies, in bytes.
  private(set) var removedBytes: Int64 = 0
  /// The number of entries and files that were to go, and were left as it was stopped.
  var left: Int64 = 0
  /// Whether nothing was done, as it was not the moment for it.
  var isSkipped = false
  /// What ended it early, or why it was skipped.
  var message: String?
  /// What it ended with.
  var status = ExitStatus.done
  /// When it began, in milliseconds of the clock that nobody sets.
  var start: Int64 = 0
  /// How long it took, in seconds.
  var durationSeconds = 0.0
  /// When it ended; `nil` if the clock shows no time.
  var end: Timestamp?

  init(cache: String = "") {
    self.cache = cache
  }

  /// Adds what was removed.
  func add(_ done: RemovalPlan) {
    removedEntries += Int64(done.entries.count)
    removedBytes = removedBytes.addingClamped(done.bodyBytes)
  }
}
