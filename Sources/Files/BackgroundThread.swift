import Dispatch

/// A separate thread for work that may block.
public enum BackgroundThread {
  /// Starts `work` without reporting its end.
  ///
  /// - Parameter name: The name of the thread, for debuggers.
  public static func start(_ name: String, _ work: @escaping @Sendable () -> Void) {
    // A private serial queue has its own thread as long as it has work.
    DispatchQueue(label: name).async(execute: work)
  }
}
