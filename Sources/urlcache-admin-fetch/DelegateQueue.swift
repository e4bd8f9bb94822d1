import Dispatch
import Foundation

/// The queue of a session's delegate, which lets the session wait when the delegate is behind.
///
/// Foundation on Linux hands on what comes without waiting, and suspending a task there begins it anew; so it is only by
/// this that a slow reader slows an origin down.
final class DelegateQueue: OperationQueue, @unchecked Sendable {
  /// It has a thread of its own, whatever blocks those that others share.
  private let queue = DispatchQueue(label: "DelegateQueue")

  /// How many calls of the delegate may wait, of which each has 16 KiB of a body at most.
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
