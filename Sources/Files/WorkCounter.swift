import Synchronization

/// The number of entries, or other pieces of work, that this process has worked on so far.
///
/// Code that works on many pieces counts them here, as it cannot know whether progress is shown. Progress is the
/// difference between two values. Counting costs a few nanoseconds, on any thread.
public enum WorkCounter {
  private static let count = Atomic<Int64>(0)

  /// The current value.
  public static var value: Int64 { count.load(ordering: .relaxed) }

  /// Counts pieces of work.
  @inline(__always)
  public static func add(_ pieces: Int64 = 1) {
    count.wrappingAdd(pieces, ordering: .relaxed)
  }
}
