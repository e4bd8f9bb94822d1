import Dispatch

/// A thread with its own tool, for work that a caller waits for with a time limit, such as matching a regular
/// expression that may take minutes.
public final class Worker<Tool>: @unchecked Sendable {
  private let queue: DispatchQueue
  private let makeTool: @Sendable () -> Tool
  /// The tool, which only the thread accesses.
  private var tool: Tool?

  /// Creates a worker.
  ///
  /// - Parameters:
  ///   - name: The name of the thread, for debuggers.
  ///   - makeTool: Creates the tool, on the thread, when it is first needed.
  public init(_ name: String, _ makeTool: @escaping @Sendable () -> Tool) {
    queue = DispatchQueue(label: name)
    self.makeTool = makeTool
  }

  /// Waits for the result of `work`.
  ///
  /// - Returns: `nil` if it takes longer than `milliseconds`. The worker continues, and can do nothing else until
  ///   it is finished.
  public func result<Result: Sendable>(
    within milliseconds: Int, of work: @escaping @Sendable (Tool) -> Result
  ) -> Result? {
    let found = Monitor<Result?>(nil)
    let end = DispatchSemaphore(value: 0)
    queue.async { [self] in
      let tool = tool ?? makeTool()
      self.tool = tool
      let result = work(tool)
      found.update { $0 = result }
      end.signal()
    }
    // No thread can be stopped from outside. The caller reports the failure and ends the process,
    // which ends the thread.
    guard end.wait(timeout: .now() + .milliseconds(milliseconds)) == .success else { return nil }
    return found.wait(until: { _ in true }) { $0 }
  }
}
