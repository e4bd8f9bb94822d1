import Administration
import Bytes
import ResponseStorage

/// What a removal would leave of a cache, found out before anything is removed.
///
/// Which pages of a database become free shows only when entries are removed. So where it matters, the rounds of the
/// removal are carried out on a ``PrivateCopy`` of the cache; otherwise the plan itself shows it.
struct RemovalSimulation {
  /// What all rounds would remove; without a copy, what the first plan removes.
  var plan: RemovalPlan
  /// What the cache takes up afterwards, in bytes, if that can be known.
  var footprintAfter: ByteCount?
  /// Whether the removal was carried out on a copy.
  var ranOnCopy = false
  /// What the copy took up in the end, in bytes, also if the plan was refused.
  var bytesAfter: ByteCount = 0
  /// By how much the log of the copy became longer, in bytes.
  var logGrowth: ByteCount = 0
  /// The limits that the copy did not meet.
  var unmet: [UnmetLimit] = []

  /// The copy of a cache that rounds are simulated on.
  struct Copy {
    /// The path of the copy.
    let path: String
    /// What the cache took up before the first round, in bytes.
    let footprint: ByteCount

    /// What the rounds have given back so far, in bytes.
    func bytesReturned(by source: any ResponseSource) throws -> ByteCount {
      max(0, footprint - (try source.footprint().totalBytes))
    }
  }
}
