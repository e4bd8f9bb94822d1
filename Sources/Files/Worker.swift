import Dispatch

/// A thread that uses a tool of its own for somebody who waits, but not for ever.
public final class Worker<Tool>: @unchecked Sendable {
  private let queue: DispatchQueue
  private let makeTool: @Sendable () -> Tool
  /// What only the thread touches.
  private var tool: Tool?

  /// Creates a worker.
  ///
  /// - Parameters:
  ///   - name: What the thread is called, for debuggers.
  ///   - makeTool: Makes the tool, on the thread, when it is first needed.
  public init(_ name: String, _ makeTool: @escaping @Sendable () -> Tool) {
    queue = DispatchQueue(label: name)
    self.makeTool = makeTool
  }

  /// Waits for what `work` returns.
  ///
  /// - Returns: `nil` if that takes longer than `milliseconds`. The worker goes on with it, and is of no use until
  ///   it has ended.
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
    guard end.wait(timeout: .now() + .milliseconds(milliseconds)) == .success else { return nil }
    return found.wait(until: { _ in true }) { $0 }
  }
}
