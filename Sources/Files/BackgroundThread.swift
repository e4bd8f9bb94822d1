import Dispatch

/// Work on a thread of its own, which may block.
public enum BackgroundThread {
  /// Starts `work`, whose end nobody is told of.
  ///
  /// - Parameter name: What the thread is called, for debuggers.
  public static func start(_ name: String, _ work: @escaping @Sendable () -> Void) {
    // A queue that nobody else knows has a thread for as long as it has work.
    DispatchQueue(label: name).async(execute: work)
  }
}
