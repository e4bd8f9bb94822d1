import Administration
import Bytes
import Files
import ResponseStorage

// A class, because an environment is copied for each cache, and what a failed run has done must not
// be lost with its copy.
/// The result of a run, for metrics and logs.
final class RunRecord {
  /// The name of the cache, or else its path.
  let cache: String
  /// The paths of the caches and archives that the command reads.
  var paths: Set<String> = []
  /// The number of removed entries.
  private(set) var removedEntries: Int64 = 0
  /// The total size of their bodies, in bytes.
  private(set) var removedBytes: ByteCount = 0
  /// The number of entries and files left because the run was stopped.
  var left: Int64 = 0
  /// Whether the run was skipped.
  var isSkipped = false
  /// Whether a worker has done the work.
  var isIsolated = false
  /// Whether that worker has ended without a result.
  var isLost = false
  /// Why it ended early or was skipped.
  var message: String?
  /// The maximum size on disk, in bytes, if the command knows it.
  var capacityBytes: ByteCount?
  /// The expiry rules of the app, which affect freshness.
  var expiryRules = UserInfoExpiry.known
  /// The requested names that the cache does not have, each with a message; `nil` unless the command runs for all
  /// caches.
  ///
  /// Collected, because hardly any list of URLs for all caches is complete in each of them.
  var absences: [(name: EntryNames.Name, sentence: String)]?
  /// The exit status.
  var status = ExitStatus.done
  /// The start, in milliseconds of the monotonic clock.
  var start: Int64 = 0
  /// The duration, in seconds.
  var durationSeconds = 0.0
  /// The end; `nil` if the clock is not set.
  var end: Timestamp?

  /// The signals that would end the process between a change and the record of it.
  private var signals: HeldSignals?
  private var holdsSignals = false

  init(cache: String = "") {
    self.cache = cache
  }

  /// Holds signals until what is done from now on is recorded.
  func holdSignals() {
    if !holdsSignals { signals = HeldSignals() }
    holdsSignals = true
  }

  /// Lets signals end the process again.
  func releaseSignals() {
    signals = nil
    holdsSignals = false
  }

  /// Adds entries that a worker has removed.
  func addRemoved(entries: Int64, bytes: ByteCount) {
    removedEntries = max(0, entries)
    removedBytes = max(0, bytes)
  }

  /// Adds removed entries.
  func add(_ done: RemovalPlan) {
    removedEntries += Int64(done.entries.count)
    removedBytes += done.bodyBytes
  }
}
