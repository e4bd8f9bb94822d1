import Administration
import Bytes
import ResponseStorage

/// What a command did to a cache, for metrics and logs.
final class RunRecord {
  /// What the cache is called: its name, or else its path.
  let cache: String
  /// The number of entries that were removed.
  private(set) var removedEntries: Int64 = 0
  /// The sizes of their bodies, in bytes.
  private(set) var removedBytes: ByteCount = 0
  /// The number of entries and files that were to go, and were left as it was stopped.
  var left: Int64 = 0
  /// Whether nothing was done, as it was not the moment for it.
  var isSkipped = false
  /// What ended it early, or why it was skipped.
  var message: String?
  /// How large the cache may be on disk, in bytes, if the command knows.
  var capacityBytes: ByteCount?
  /// The expiries of an application's own, which count for whether entries are fresh.
  var expiryRules = UserInfoExpiry.known
  /// What the cache does not have of what was named, each with a sentence; `nil` unless the command is run for all caches.
  ///
  /// A list of URLs for all caches is hardly ever in each of them.
  var absences: [(name: EntryNames.Name, sentence: String)]?
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
    removedBytes += done.bodyBytes
  }
}
