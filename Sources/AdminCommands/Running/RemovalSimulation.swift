import Administration
import Bytes
import ResponseStorage

/// The result of a removal, found out before anything is removed.
///
/// Which pages of a database become free is only known after entries are removed. Where it matters, the rounds are run
/// on a ``PrivateCopy`` of the cache; otherwise the plan is precise enough.
struct RemovalSimulation {
  /// The removals of all rounds; without a copy, those of the first plan.
  var plan: RemovalPlan
  /// The size on disk afterwards, in bytes, if known.
  var footprintAfter: ByteCount?
  /// Whether the removal was run on a copy.
  var ranOnCopy = false
  /// The final size of the copy, in bytes, even if the plan was refused.
  var bytesAfter: ByteCount = 0
  /// The growth of the log of the copy, in bytes.
  var logGrowth: ByteCount = 0
  /// The limits that the copy did not meet.
  var unmet: [UnmetLimit] = []

  /// A copy of a cache for simulating rounds.
  struct Copy {
    /// The path of the copy.
    let path: String
    /// The size on disk before the first round, in bytes.
    let footprint: ByteCount

    /// Returns the number of bytes freed so far.
    func bytesReturned(by source: any ResponseSource) throws -> ByteCount {
      max(0, footprint - (try source.footprint().totalBytes))
    }
  }
}
