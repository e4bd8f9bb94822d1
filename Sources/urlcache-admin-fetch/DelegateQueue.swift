import Dispatch
import Foundation

/// A delegate queue that blocks the session while the delegate is behind.
///
/// Foundation on Linux delivers data without waiting, and suspending a task there restarts it. Blocking the queue is
/// the only way for a slow reader to slow an origin down.
final class DelegateQueue: OperationQueue, @unchecked Sendable {
  /// A private queue, so that blocked shared threads do not block it.
  private let queue = DispatchQueue(label: "DelegateQueue")

  /// Limits the pending delegate calls, each of which has at most 16 KiB of a body.
  private let room = DispatchSemaphore(value: 16)

  override init() {
    super.init()
    maxConcurrentOperationCount = 1
  }

  override func addOperation(_ block: @escaping @Sendable () -> Void) {
    room.wait()
    queue.async { [room] in
      block()
      room.signal()
    }
  }
}
