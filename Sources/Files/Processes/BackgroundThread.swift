import Dispatch
import Synchronization

/// A separate thread for work that may block.
public enum BackgroundThread {
  /// Starts `work` without reporting its end.
  ///
  /// - Parameter name: The name of the thread, for debuggers.
  public static func start(_ name: String, _ work: @escaping @Sendable () -> Void) {
    // A private serial queue has its own thread as long as it has work.
    DispatchQueue(label: name).async(execute: work)
  }

  /// Returns the results of `work` for the numbers from 0, when all have ended.
  ///
  /// As many run at the same time as there are processors; the thread of the caller takes part.
  ///
  /// - Throws: The error of the smallest number that has one.
  public static func map<Result: Sendable, Failure: Error>(
    _ count: Int, _ work: @Sendable (Int) throws(Failure) -> Result
  ) throws(Failure) -> [Result] {
    let results = Mutex<[Int: Swift.Result<Result, Failure>]>([:])
    DispatchQueue.concurrentPerform(iterations: count) { number in
      let result: Swift.Result<Result, Failure>
      do throws(Failure) { result = .success(try work(number)) } catch { result = .failure(error) }
      results.withLock { $0[number] = result }
    }
    var values: [Result] = []
    for (_, result) in results.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
      values.append(try result.get())
    }
    return values
  }
}
